# shellcheck shell=sh
# What a build needs, and where it is. Sourced by the launcher, ./test and the build steps.

# The first cargo on PATH that is at least 1.88, else /usr/bin/cargo: Debian's cargo-web is there
# even where an older one of rustup comes first.
find_cargo() {
  for cargo in "$(command -v cargo)" /usr/bin/cargo; do
    [ -x "$cargo" ] || continue
    # `cargo 1.96.0 (…)`; rustup's stand-in fails here when it has no toolchain.
    cargo_version=$("$cargo" --version 2>/dev/null) || continue
    cargo_version=${cargo_version#cargo }
    cargo_minor=${cargo_version#*.}
    cargo_minor=${cargo_minor%%.*}
    case ${cargo_version%%.*}-$cargo_minor in
      1-8[89] | 1-9[0-9] | 1-[1-9][0-9][0-9] | [2-9]-*)
        echo "$cargo"
        return 0
        ;;
    esac
  done
  return 1
}

# The major version of a JVM by the file beside it: asking the JVM costs 50 ms each.
java_major() {
  release=$(dirname "$(readlink -f "$1")")/../release
  [ -r "$release" ] || return 1
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$release"
}

# A JDK with a compiler, 17 or newer: JAVA_HOME, else the one on PATH, else the newest installed.
find_jdk() {
  for java in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java)" \
    $(ls -rvd /usr/lib/jvm/*/bin/java 2>/dev/null); do
    [ -x "$java" ] || continue
    java=$(readlink -f "$java")
    [ -x "${java%/*}/javac" ] || continue
    major=$(java_major "$java") || continue
    if [ "${major:-0}" -ge 17 ]; then
      echo "${java%/bin/java}"
      return 0
    fi
  done
  return 1
}

# debian_archive LABEL: where this system gets Debian's packages of this label from (Debian, Debian-Security); nothing elsewhere.
debian_archive() {
  # shellcheck disable=SC2016 # apt-get puts the value there
  apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Origin: Debian" "Label: $1" | head -n 1
}

# The Debian packages that are missing for a build, on one line; nothing if there are none.
missing_for_build() {
  missing=
  [ -s /etc/ssl/certs/ca-certificates.crt ] || missing="$missing ca-certificates"
  command -v make >/dev/null || missing="$missing make"
  command -v gcc >/dev/null || missing="$missing gcc"
  [ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"
  command -v pkg-config >/dev/null || missing="$missing pkg-config"
  command -v clang >/dev/null || missing="$missing clang"
  [ -e /usr/include/libelf.h ] || missing="$missing libelf-dev"
  [ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"
  find_cargo >/dev/null || missing="$missing cargo-web rustc-web"
  find_jdk >/dev/null || missing="$missing default-jdk-headless"
  command -v mvn >/dev/null || missing="$missing maven"
  echo "${missing# }"
}

# The same for what the tests and linters use beyond a build.
missing_for_test() {
  missing=
  command -v git >/dev/null || missing="$missing git"
  command -v g++ >/dev/null || missing="$missing g++"
  command -v go >/dev/null || missing="$missing golang-go"
  command -v objcopy >/dev/null || missing="$missing binutils"
  command -v python3 >/dev/null || missing="$missing python3"
  command -v php >/dev/null || missing="$missing php-cli"
  ls /usr/sbin/php-fpm8* >/dev/null 2>&1 || missing="$missing php-fpm"
  ls /usr/lib/apache2/modules/libphp8*.so >/dev/null 2>&1 || missing="$missing libapache2-mod-php"
  command -v ruby >/dev/null || missing="$missing ruby"
  command -v xz >/dev/null || missing="$missing xz-utils"
  command -v musl-gcc >/dev/null || missing="$missing musl-tools"
  [ -e /usr/include/boost/context/fiber.hpp ] || missing="$missing libboost-context-dev"
  command -v go >/dev/null || missing="$missing golang-go"
  command -v tmux >/dev/null || missing="$missing tmux"
  command -v screen >/dev/null || missing="$missing screen"
  command -v clang-format >/dev/null || missing="$missing clang-format"
  command -v shellcheck >/dev/null || missing="$missing shellcheck"
  command -v pgrep >/dev/null || missing="$missing procps"
  command -v eu-stack >/dev/null || missing="$missing elfutils"
  command -v debuginfod >/dev/null || missing="$missing debuginfod"
  command -v curl >/dev/null || missing="$missing curl"
  command -v dwz >/dev/null || missing="$missing dwz"
  command -v npm >/dev/null || missing="$missing npm"
  command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null ||
    missing="$missing chromium-headless-shell"
  # Beside the cargo that is used, or of its package.
  if cargo=$(find_cargo); then
    [ -x "${cargo%/*}/cargo-fmt" ] || missing="$missing rustfmt-web"
    [ -x "${cargo%/*}/cargo-clippy" ] || missing="$missing rust-web-clippy"
  else
    missing="$missing rustfmt-web rust-web-clippy"
  fi
  echo "${missing# }"
}

# The same for making a bundle.
missing_for_package() {
  missing=
  command -v objcopy >/dev/null || missing="$missing binutils"
  command -v setarch >/dev/null || missing="$missing util-linux"
  command -v dpkg-deb >/dev/null || missing="$missing dpkg"
  # Debian's library files that a static program takes; those of C are with the headers.
  [ -e "$(gcc -print-file-name=libstdc++.a 2>/dev/null)" ] || missing="$missing g++"
  if jdk=$(find_jdk); then
    [ -x "$jdk/bin/jlink" ] || missing="$missing default-jdk-headless"
  fi
  echo "${missing# }"
}

# The same for trying a bundle in systems that have nothing.
missing_for_bundle_test() {
  missing=
  command -v debootstrap >/dev/null || missing="$missing debootstrap"
  command -v unshare >/dev/null || missing="$missing util-linux"
  command -v tmux >/dev/null || missing="$missing tmux"
  command -v musl-gcc >/dev/null || missing="$missing musl-tools"
  command -v openssl >/dev/null || missing="$missing openssl"
  command -v python3 >/dev/null || missing="$missing python3"
  command -v ip >/dev/null || missing="$missing iproute2"
  echo "${missing# }"
}

# The same for cross-compiling to arm64, whose tools are fetched apart.
missing_for_arm64() {
  missing=
  command -v debootstrap >/dev/null || missing="$missing debootstrap"
  command -v unshare >/dev/null || missing="$missing util-linux"
  echo "${missing# }"
}

# The same for booting other kernels, which are fetched apart.
missing_for_kernels() {
  missing=
  command -v qemu-system-x86_64 >/dev/null || missing="$missing qemu-system-x86"
  command -v busybox >/dev/null || missing="$missing busybox-static"
  echo "${missing# }"
}
