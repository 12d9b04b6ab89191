# shellcheck shell=bash disable=SC2154
# The root in which things are made for arm64: Debian's cross compiler, Rust's library of arm64, qemu, and packages of arm64. Sourced by
# ./package and e2e/arm64, which set `root` (the sources) and `here` (where that root is, or is to be).

# inside COMMAND: a shell's command in that root, with the sources, cargo's folder and devices; the mounts end with the command.
inside() {
  # shellcheck disable=SC2016 # the inner shell expands it
  HERE=$here SOURCES=$root CARGO_FOLDER=${CARGO_HOME:-$HOME/.cargo} unshare -m bash -ec '
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
      CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /" \
      CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ \
      PKG_CONFIG_ALLOW_CROSS=1 PKG_CONFIG_PATH=/usr/lib/aarch64-linux-gnu/pkgconfig \
      chroot "$HERE" sh -ec "cd /sources/sampler-native && $1"
  ' inside "$1"
}

# fetched: makes that root, unless it is there. Its apt also fetches a kernel for virtual machines, what a guest needs of a system, and a JDK.
fetched() {
  local guest=(busybox-static:arm64 libc6:arm64 libelf1:arm64 zlib1g:arm64 libgcc-s1:arm64 libstdc++6:arm64
    openjdk-17-jre-headless:arm64 openjdk-17-jdk-headless:arm64)
  [ -e "$here/var/tmp/fetched" ] && return
  rm -rf "$here" "$here.new"
  local archive
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
  inside "dpkg --add-architecture arm64 && apt-get update && apt-get install -y --no-install-recommends ca-certificates cargo-web rustc-web \
    libstd-rust-web-dev:arm64 gcc g++ libc6-dev gcc-aarch64-linux-gnu g++-aarch64-linux-gnu make pkg-config clang \
    libelf-dev libelf-dev:arm64 zlib1g-dev:arm64 qemu-user-static qemu-system-arm cpio
    cd /var/tmp/debs && apt-get download ${guest[*]} \
      \$(apt-cache search --names-only '^linux-image-6\\.1\\..*-cloud-arm64\$' | cut -d' ' -f1 | sort -V | tail -n 1)" || return 1
  : >"$here/var/tmp/fetched"
}

