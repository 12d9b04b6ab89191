package flametop.profile.log;

import java.util.Set;

/** The libraries by which programs call the kernel, and which are part of no program. */
final class CLibraries {
  /** Names of files up to the first point. */
  private static final Set<String> NAMES =
      Set.of(
          "libc",
          "libc-2",
          "libpthread",
          "librt",
          "ld-linux-x86-64",
          "ld-linux-aarch64",
          "ld-musl-x86_64",
          "ld-musl-aarch64",
          "[vdso]");

  private CLibraries() {}

  /**
   * Whether a module is one of them.
   *
   * @param module name of its file; or in brackets what the module is
   */
  static boolean has(String module) {
    int point = module.indexOf('.');
    return NAMES.contains(point < 0 ? module : module.substring(0, point));
  }
}
