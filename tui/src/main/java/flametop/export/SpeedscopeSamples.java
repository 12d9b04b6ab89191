package flametop.export;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.format.SampleLog;
import flametop.profile.format.SampleLog.Frame;
import java.io.IOException;
import java.io.Writer;
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
  static long write(SampleExport export, Writer json) throws IOException {
    return new SpeedscopeSamples(export, json).file();
  }

  private long file() throws IOException {
    SpeedscopeWriter.begin(json, export.provenance(), log.hasOwners(), log.frames());
    String separator = "";
    long samples = 0;
    for (Map.Entry<Owner, int[]> group : log.groups(this::owner).entrySet()) {
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

  private void profile(Owner of, int[] rows) throws IOException {
    boolean owned = !of.equals(NOBODY);
    json.append("{\"type\":\"sampled\",\"name\":");
    json.append(Json.quoted(owned ? name(of) : export.provenance().title()));
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
          json.append(separator[0]);
          SpeedscopeWriter.sample(json, frames, owned ? 1 : 0, depth);
          separator[0] = ",\n";
          total[0] += whole(values);
        });
    json.append("],\"weights\":[");
    separator[0] = "";
    log.each(
        rows,
        (labels, frames, depth, values) -> {
          json.append(separator[0]).append(StackExport.text(whole(values), decimals));
          separator[0] = ",";
        });
    json.append("],\"endValue\":").append(StackExport.text(total[0], decimals)).append('}');
  }

  private long whole(long[] values) {
    return SampleExport.whole(type.unit(), values[log.preferred()], decimals);
  }

  private void owner(Owner of) throws IOException {
    json.append("{\"comm\":").append(Json.quoted(of.comm()));
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
      json.append(",\"" + field + "\":").append(Json.quoted(text));
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
