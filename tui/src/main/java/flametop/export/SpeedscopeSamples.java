package flametop.export;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.format.SampleLog;
import flametop.profile.format.SampleLog.Frame;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the samples of profiles in speedscope's own format: a sampled profile for each owner, with
 * its samples in their order, and frames with their places in sources. What speedscope has no words
 * for stands in fields that speedscope does not read: {@code owner} of a profile, {@code module}
 * and {@code mark} of a frame.
 */
final class SpeedscopeSamples {
  /** Stands for stacks without an owner. */
  private static final Owner NOBODY = Owner.of("");

  private final SampleExport export;
  private final SampleLog log;
  private final SampleLog.Type type;
  private final int decimals;
  private final Writer json;

  private SpeedscopeSamples(SampleExport export, Writer json) {
    this.export = export;
    this.json = json;
    log = export.log();
    type = log.types().get(log.preferred());
    decimals = export.decimals()[log.preferred()];
  }

  /** Returns how many samples. */
  static long write(SampleExport export, OutputStream out) throws IOException {
    Writer json = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.US_ASCII));
    try {
      long samples = new SpeedscopeSamples(export, json).file();
      json.flush();
      return samples;
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private long file() throws IOException {
    SpeedscopeWriter.begin(json, export.provenance(), log.hasOwners());
    for (int i = 0; i < log.frames(); i++) {
      json.append(i == 0 ? "\n" : ",\n");
      frame(log.frame(i));
    }
    json.append("]},\"profiles\":[");
    Map<Owner, int[]> groups = log.groups(this::owner);
    String separator = "";
    long samples = 0;
    for (Map.Entry<Owner, int[]> group : groups.entrySet()) {
      json.append(separator);
      profile(group.getKey(), group.getValue());
      separator = ",\n";
      samples += group.getValue().length;
    }
    json.append("]}\n");
    return samples;
  }

  /** Whose profile the stacks below a frame are in. */
  private Owner owner(@Nullable Frame first) {
    Owner of = first == null ? null : first.owner();
    if (of == null && first != null && log.hasOwners()) {
      of = Owner.of(first.name());
    }
    if (of == null) {
      return NOBODY;
    }
    return switch (export.by()) {
      case NONE -> NOBODY;
      case STATE -> of;
      case THREAD -> new Owner(of.comm(), of.pid(), of.thread(), of.tid(), of.cgroup(), null);
      case PROCESS -> new Owner(of.comm(), of.pid(), "", 0, of.cgroup(), null);
    };
  }

  private void frame(Frame of) throws IOException {
    json.append("{\"name\":");
    Json.string(json, of.name());
    String file = of.place().file();
    boolean placed = of.place().line() > 0 || !file.isEmpty() && !file.equals(of.module());
    if (!file.isEmpty() || !of.module().isEmpty() && !placed) {
      json.append(",\"file\":");
      Json.string(json, placed ? file : of.module());
    }
    if (of.place().line() > 0) {
      json.append(",\"line\":").append(Integer.toString(of.place().line()));
    }
    if (of.place().column() > 0) {
      json.append(",\"col\":").append(Integer.toString(of.place().column()));
    }
    if (placed && !of.module().equals(file)) {
      json.append(",\"module\":");
      Json.string(json, of.module());
    }
    SpeedscopeWriter.mark(json, of.kind(), of.module());
    json.append('}');
  }

  private void profile(Owner of, int[] rows) throws IOException {
    boolean owned = !of.equals(NOBODY);
    json.append("{\"type\":\"sampled\",\"name\":");
    Json.string(json, owned ? name(of) : export.provenance().title());
    if (owned) {
      json.append(",\"owner\":");
      owner(of);
    }
    json.append(",\"unit\":\"").append(SampleExport.unit(type.unit(), "none"));
    json.append("\",\"startValue\":0,\"samples\":[");
    String[] separator = {"\n"};
    long[] total = new long[1];
    log.each(
        rows,
        (labels, frames, depth, values) -> {
          try {
            json.append(separator[0]).append('[');
            for (int i = owned ? 1 : 0; i < depth; i++) {
              json.append(i > (owned ? 1 : 0) ? "," : "").append(Integer.toString(frames[i]));
            }
            json.append(']');
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          separator[0] = ",\n";
          total[0] += whole(values);
        });
    json.append("],\"weights\":[");
    separator[0] = "";
    log.each(
        rows,
        (labels, frames, depth, values) -> {
          try {
            json.append(separator[0]).append(Decimal.text(whole(values), decimals));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          separator[0] = ",";
        });
    json.append("],\"endValue\":").append(Decimal.text(total[0], decimals)).append('}');
  }

  private long whole(long[] values) {
    return SampleExport.whole(type.unit(), values[log.preferred()], decimals);
  }

  private void owner(Owner of) throws IOException {
    json.append("{\"comm\":");
    Json.string(json, of.comm());
    number("pid", of.pid());
    text("thread", of.thread());
    number("tid", of.tid());
    text("cgroup", of.cgroup());
    text("state", of.state() == null ? "" : of.state().label());
    json.append('}');
  }

  private void number(String field, int number) throws IOException {
    if (number > 0) {
      json.append(",\"" + field + "\":").append(Integer.toString(number));
    }
  }

  private void text(String field, String text) throws IOException {
    if (!text.isEmpty()) {
      json.append(",\"" + field + "\":");
      Json.string(json, text);
    }
  }

  /** {@code java, process 12, thread 34 "worker", sleep}: as far as that is known. */
  private static String name(Owner of) {
    String thread = of.thread().isEmpty() ? "" : " \"" + of.thread() + "\"";
    return of.comm()
        + (of.pid() > 0 ? ", process " + of.pid() : "")
        + (of.tid() > 0
            ? ", thread " + of.tid() + thread
            : thread.isEmpty() || of.thread().equals(of.comm()) ? "" : ", thread" + thread)
        + (of.cgroup().isEmpty() ? "" : ", " + of.cgroup())
        + (of.state() == null ? "" : ", " + of.state().label());
  }
}
