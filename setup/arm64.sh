# shellcheck shell=bash disable=SC2154,SC2034
# The root in which things are made for arm64: Debian's cross compiler, Rust's library of arm64, a JDK, qemu, and packages of arm64. Sourced by
# ./package and e2e/arm64, which set `root`, the sources.

here=$root/target/test/roots/arm64
rust_name=aarch64-unknown-linux-gnu
# In that root: a JDK that runs there, the modules of arm64's, and what runs a program of arm64.
jdk_inside=/usr/lib/jvm/java-17-openjdk-amd64
modules_inside=/var/tmp/jdk/jmods
emulator="qemu-aarch64-static -L /"

# inside COMMAND: a shell's command in that root, with the sources, cargo's folder and devices; the mounts end with the command.
inside() {
  # shellcheck disable=SC2016 # the inner shell expands it
  HERE=$here SOURCES=$root CARGO_FOLDER=${CARGO_HOME:-$HOME/.cargo} EMULATOR=$emulator unshare -m bash -ec '
    mkdir -p "$HERE"/{cargo,sources}
    # A file is told to be local by its mount.
    mount --bind "$HERE" "$HERE"
    mount --bind /proc "$HERE/proc"
    mount --rbind /dev "$HERE/dev"
    mount --bind "$CARGO_FOLDER" "$HERE/cargo"
    mount --bind "$SOURCES" "$HERE/sources"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      CARGO_HOME=/cargo CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=/var/tmp/target \
      CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
      CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$EMULATOR" \
      CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ \
      PKG_CONFIG_ALLOW_CROSS=1 PKG_CONFIG_PATH=/usr/lib/aarch64-linux-gnu/pkgconfig \
      chroot "$HERE" sh -ec "cd /sources/sampler-native && $1"
  ' inside "$1"
}

# What packages of arm64 are unpacked for: a guest's system, and the modules of a JDK, of which a Java runtime is linked.
system_debs=(busybox-static libc6 libelf1 zlib1g libgcc-s1 libstdc++6)
jdk_deb=openjdk-17-jdk-headless

# make_root: makes that root, unless it is there. Its JDK links the runtime of the other's modules, which takes the same version.
make_root() {
  local made=$here/var/tmp/fetched archive packages
  local tools=(ca-certificates cargo-web rustc-web libstd-rust-web-dev:arm64 gcc g++ libc6-dev gcc-aarch64-linux-gnu g++-aarch64-linux-gnu
    make pkg-config clang libelf-dev libelf-dev:arm64 zlib1g-dev:arm64 "$jdk_deb" qemu-user-static qemu-system-arm cpio)
  packages="${tools[*]} ${system_debs[*]}"
  # Of other packages, by an older of these scripts, it is made anew.
  [ "$packages" != "$(cat "$made" 2>/dev/null)" ] || return 0
  mkdir -p "${here%/*}"
  rm -rf "$here" "$here.new"
  # shellcheck source=/dev/null
  archive=$(. "$root/setup/tools.sh" && debian_archive Debian)
  [ -n "$archive" ] || {
    echo "apt names no archive of Debian, from which the root of arm64 is made" >&2
    return 1
  }
  debootstrap --variant=minbase bookworm "$here.new" "$archive" || return 1
  # Rust that is new enough is an update of security.
  printf 'deb %s bookworm main\ndeb %s bookworm-security main\n' "$archive" "${archive%/debian*}/debian-security" \
    >"$here.new/etc/apt/sources.list"
  cp -L /etc/resolv.conf "$here.new/etc/resolv.conf"
  find /etc/apt/apt.conf.d -name '*proxy*' -exec cp {} "$here.new/etc/apt/apt.conf.d" \;
  mkdir -p "$here.new/var/tmp/debs"
  mv "$here.new" "$here"
  inside "dpkg --add-architecture arm64
    apt-get update
    apt-get install -y --no-install-recommends ${tools[*]}
    cd /var/tmp/debs && apt-get download ${system_debs[*]/%/:arm64} $jdk_deb:arm64 \
      \$(apt-cache search --names-only '^linux-image-6\\.1\\..*-cloud-arm64\$' | cut -d' ' -f1 | sort -V | tail -n 1)
    mkdir -p /var/tmp/jdk
    dpkg-deb --fsys-tarfile ${jdk_deb}_*.deb | tar -x -C /var/tmp/jdk --strip-components=5 --wildcards '*/jmods'
    apt-get clean" || return 1
  printf %s "$packages" >"$made"
}

# fetch_crates: to this machine's cargo, whose folder is seen in that root.
fetch_crates() {
  (cd "$root/sampler-native" && "$(find_cargo)" fetch --locked --target $rust_name)
}
