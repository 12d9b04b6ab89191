package flametop.sampler;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Samples the tasks of this host, by the native side. */
public final class KernelSource implements SampleSource {
  /** System property: process of the launcher, which is not sampled, as this one is not. */
  private static final String LAUNCHER = "flametop.launcher.pid";

  private static final int MAX_TEXT = 500;
  private static final int MAX_SPEC = 4_000;

  /**
   * One thing that this host allows or not.
   *
   * @param ok it does
   * @param needed sampling is not possible without it
   * @param what in a few words
   * @param detail what was found
   * @param remedy what mends it; empty if nothing needs to be
   */
  public record CheckLine(boolean ok, boolean needed, String what, String detail, String remedy) {}

  private final long handle;
  private final byte[] header;
  private final StreamFacts facts;
  private final Object closing = new Object();
  private boolean closed;

  private KernelSource(long handle) throws IOException {
    this.handle = handle;
    header = Bridge.header(handle);
    facts = StreamReader.readHeader(ByteBuffer.wrap(header));
  }

  /**
   * Loads the programs into the kernel. Takes up to a second.
   *
   * @param programTime whether the kernel counts how long the BPF programs run, which costs some 70
   *     ns a run
   * @param debugServers addresses of servers that are asked for debug files, with spaces between
   *     them; empty: none is asked
   * @throws SamplerException if this host does not allow it, or there is no such target
   */
  public static KernelSource open(
      Target target, int passHz, int cpuHz, boolean programTime, String debugServers)
      throws IOException {
    Bridge.load();
    String settings =
        """
        target=%s
        hz.pass=%s
        hz.cpu=%s
        program.time=%s
        %sdebuginfod=%s
        symbolizer=%s
        """
            .formatted(
                target.setting(),
                passHz,
                cpuHz,
                programTime ? 1 : 0,
                own(),
                debugServers,
                Bridge.symbolizer());
    return new KernelSource(Bridge.open(settings));
  }

  /**
   * The things that this host allows.
   *
   * @throws SamplerException if the native library is not there or does not fit
   */
  public static List<CheckLine> check() throws SamplerException {
    Bridge.load();
    return checkLines(Bridge.check("symbolizer=" + Bridge.symbolizer() + "\n"));
  }

  static List<CheckLine> checkLines(String text) {
    List<CheckLine> lines = new ArrayList<>();
    for (String line : text.split("\n")) {
      String[] fields = line.split("\t", -1);
      if (fields.length >= 5) {
        lines.add(
            new CheckLine(
                fields[0].equals("ok"),
                fields[1].equals("needed"),
                CleanText.clean(fields[2], MAX_TEXT),
                CleanText.clean(fields[3], MAX_TEXT),
                CleanText.clean(fields[4], MAX_TEXT)));
      }
    }
    return lines;
  }

  /**
   * A source of events of this host.
   *
   * @param spec by which the source is asked for
   * @param details arguments, fields, or one sentence
   * @param missing why the source cannot be had, and what mends that; empty: it can be had
   */
  public record ListedSource(String spec, String details, String missing) {}

  /**
   * Sources of events of this host.
   *
   * @param all how many fit to the pattern
   * @param first of them, in the order of the list
   */
  public record SourceList(long all, List<ListedSource> first) {}

  /**
   * Lists the sources of events of this host; takes up to some seconds, so it is not for the thread
   * of the screen.
   *
   * @param target processes whose files are looked into for probes and functions, too
   * @param pattern a part of the text of a source, a glob or a regular expression between slashes;
   *     empty: all
   * @param most so many are in the list
   * @throws SamplerException if the pattern cannot be read, or the native library does not fit
   */
  public static SourceList events(Target target, String pattern, int most) throws SamplerException {
    Bridge.load();
    String settings = "target=" + target.setting() + "\nsymbolizer=" + Bridge.symbolizer() + "\n";
    return sourceList(Bridge.events(settings, pattern, most));
  }

  /**
   * The text stays bytes, of which each field becomes text by itself: there may be a million
   * sources.
   */
  static SourceList sourceList(byte[] text) {
    int start = behind(text, 0, '\n');
    long all = Long.parseLong(new String(text, 0, start - 1, StandardCharsets.UTF_8));
    List<ListedSource> first = new ArrayList<>();
    while (start < text.length) {
      int details = behind(text, start, '\t');
      int missing = behind(text, details, '\t');
      int next = behind(text, missing, '\n');
      first.add(
          new ListedSource(
              CleanText.clean(text, start, details - 1 - start, MAX_SPEC),
              CleanText.clean(text, details, missing - 1 - details, MAX_SPEC),
              CleanText.clean(text, missing, next - 1 - missing, MAX_TEXT)));
      start = next;
    }
    return new SourceList(all, first);
  }

  /** Where the text behind the next such character begins. */
  private static int behind(byte[] text, int from, char end) {
    int at = from;
    while (text[at] != end) {
      at++;
    }
    return at + 1;
  }

  /**
   * Refuses a text that is no spec of a source of events.
   *
   * @throws SamplerException the column that cannot be read, and why
   */
  public static void checkSpec(String spec) throws SamplerException {
    Bridge.load();
    Bridge.checkSpec(spec);
  }

  private static String own() {
    String launcher = System.getProperty(LAUNCHER, "");
    return launcher.matches("[0-9]+") ? "own=" + launcher + "\n" : "";
  }

  @Override
  public StreamFacts facts() {
    return facts;
  }

  @Override
  public byte[] header() {
    return header.clone();
  }

  @Override
  public int fill(ByteBuffer buffer, boolean pass, long late) throws IOException {
    return Bridge.fill(handle, buffer, pass, late);
  }

  @Override
  public void setRates(int passHz, int cpuHz) throws IOException {
    Bridge.wish(handle, "rates=" + passHz + "," + cpuHz);
  }

  @Override
  public NameRequests names() {
    return new NameRequests() {
      @Override
      public void ask(int[] frames, int count) {
        whileOpen(wish("names", frames, count));
      }

      @Override
      public void askPlaces(int[] frames, int count) {
        whileOpen(wish("places", frames, count));
      }
    };
  }

  /** A wish that is of frames. */
  static String wish(String key, int[] frames, int count) {
    return Arrays.stream(frames, 0, count)
        .mapToObj(Integer::toUnsignedString)
        .collect(Collectors.joining(",", key + "=", ""));
  }

  /**
   * Switches a source of events on. What comes of it is in the stream, also why it cannot be had.
   * May be called by any thread; does nothing once this is closed.
   *
   * @param number of the source in the stream; what had the number before is switched off
   * @param spec as the user wrote it
   */
  public void sourceOn(int number, String spec) {
    whileOpen("source.on=" + number + " " + spec.replaceAll("\\p{Cntrl}", "?"));
  }

  /** Allows sources with many probes from now on. */
  public void forceProbes() {
    whileOpen("probes.force=1");
  }

  /** Switches a source of events off; its totals stay. */
  public void sourceOff(int number) {
    whileOpen("source.off=" + number);
  }

  /** Wishes outlive the session: another thread may have one while this one closes. */
  private void whileOpen(String wish) {
    synchronized (closing) {
      if (!closed) {
        try {
          Bridge.wish(handle, wish);
        } catch (SamplerException e) {
          throw new IllegalStateException(e.getMessage(), e);
        }
      }
    }
  }

  @Override
  public void close() {
    synchronized (closing) {
      if (!closed) {
        closed = true;
        try {
          Bridge.close(handle);
        } catch (SamplerException e) {
          // The process is about to end, and the kernel cleans up after it.
        }
      }
    }
  }
}
