package flametop.sampler;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The native side, {@code libflametop.so}. Its folder is named by the system property {@code
 * flametop.native.dir}, which the launcher sets. Each native method throws {@link SamplerException}
 * where it fails, for handles that it does not know, too.
 */
final class Bridge {
  /**
   * Number of the kernel records ({@code FT_ABI} of {@code bpf/flametop.h}) and version of the
   * stream.
   */
  static final int ABI = 12 << 16 | StreamReader.VERSION;

  private static final String FOLDER = "flametop.native.dir";
  private static boolean loaded;

  private Bridge() {}

  /** Loads the library, once. */
  static synchronized void load() throws SamplerException {
    if (loaded) {
      return;
    }
    Path library = file("libflametop.so", "the native library");
    try {
      System.load(library.toString());
      agree(abi());
    } catch (UnsatisfiedLinkError e) {
      throw notPossible(
          "cannot load %s: %s; it needs libelf and zlib (apt install libelf1 zlib1g) and must be built for this machine: remove it, and ./flametop builds it anew; of a bundle: unpack it anew"
              .formatted(library, e.getMessage()));
    }
    loaded = true;
  }

  /** The helper process that finds names. */
  static Path symbolizer() throws SamplerException {
    return file("flametop-symbolizer", "the symbolizer");
  }

  /** Refuses a library of another build. */
  static void agree(int abi) throws SamplerException {
    if (abi != ABI) {
      throw notPossible(
          "the native library is of another build: it has ABI %s, this program ABI %s; build both anew (mvn package)"
              .formatted(describe(abi), describe(ABI)));
    }
  }

  private static String describe(int abi) {
    return (abi >>> 16) + " with stream version " + (abi & 0xFFFF);
  }

  private static Path file(String name, String what) throws SamplerException {
    String folder = System.getProperty(FOLDER, "");
    if (folder.isEmpty()) {
      throw notPossible(
          "the folder of %s is not known: start flametop by its launcher, or with -D%s=FOLDER"
              .formatted(what, FOLDER));
    }
    Path file = Path.of(folder).toAbsolutePath().resolve(name);
    if (!Files.isReadable(file)) {
      throw notPossible(what + " " + file + " is missing: build it (mvn package)");
    }
    return file;
  }

  private static SamplerException notPossible(String text) {
    return new SamplerException(SamplerException.Kind.NOT_POSSIBLE, CleanText.clean(text, 2_000));
  }

  static native int abi();

  /** Opens a session; {@code settings} are lines of {@code key=value}. Returns its handle. */
  static native long open(String settings) throws SamplerException;

  static native byte[] header(long handle) throws SamplerException;

  static native int fill(long handle, ByteBuffer direct, boolean pass, long late)
      throws SamplerException;

  /** Wishes something of an open session: {@code rates=}, {@code names=} … of the native side. */
  static native void wish(long handle, String wish) throws SamplerException;

  static native void close(long handle) throws SamplerException;

  /** Lines of {@code ok|no|missing \t needed|optional \t what \t detail \t remedy}. */
  static native String check(String settings) throws SamplerException;

  /**
   * Sources of events of this host, in UTF-8: a line with the number of those that fit to the
   * pattern (empty: all), then lines of {@code spec \t arguments or fields \t why it cannot be had}
   * of the first {@code most}.
   */
  static native byte[] events(String settings, String pattern, int most) throws SamplerException;

  /** Throws where a text is no spec of a source of events. */
  static native void checkSpec(String spec) throws SamplerException;
}
