package flametop.view.keys;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Snapshot;
import flametop.sampler.SourceState;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.base.Zone;
import flametop.view.layout.ListBox;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Rows;
import flametop.view.state.SourceList;
import flametop.view.state.SourceListing;
import flametop.view.state.Step;
import flametop.view.state.TablePlace;
import flametop.view.state.Typed;
import flametop.view.state.ViewState;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The keys of the list of sources of events that can be added. */
public final class SourceListKeys {
  private static final int PAGE = 10;

  /** How a reason names the column of the spec that it is about. */
  private static final Pattern COLUMN = Pattern.compile("^column ([0-9]{1,4}): ");

  private SourceListKeys() {}

  /** Opens the list. */
  public static Step opened(Scene scene, ViewState s) {
    if (scene.snapshot.isOpening() || scene.snapshot.live().ended()) {
      boolean opening = scene.snapshot.isOpening();
      return Step.answer(
          s, opening ? "not yet: sampling is still being opened" : "sampling has ended");
    }
    return Step.to(s.withSources(SourceList.OPENED), new Effect.ListSources(""));
  }

  /** Applies a key. */
  public static Step press(Scene scene, ViewState s, SourceList list, Key key) {
    int by = Rows.by(key, PAGE);
    if (by != 0) {
      return Step.to(s.withSources(list.moved(by)));
    }
    return switch (key.kind()) {
      case ESCAPE -> Step.to(s.withSources(null));
      case ENTER -> chosen(scene, s, list);
      case TAB -> {
        SourceListing.Row row = list.marked();
        yield row == null
            ? Step.answer(s, list.rows().isEmpty() ? "no source has this text" : "mark a row first")
            : typed(s, list, Prompt.of(row.spec()));
      }
      default ->
          PromptKeys.pressed(s, list.prompt(), Typed.SPEC, key, line -> typed(s, list, line));
    };
  }

  /** Takes another spec into the line, and asks for its list unless one is on its way. */
  public static Step typed(ViewState s, SourceList list, Prompt prompt) {
    SourceList next = list.withPrompt(prompt);
    return listing(s, next, list.wanted() != null ? next.pattern() : list.pattern());
  }

  /** Takes an answer, and asks again if another spec is typed by now. */
  public static Step listed(ViewState s, SourceListing listing) {
    SourceList list = s.sources();
    if (list == null) {
      return Step.to(s);
    }
    return listing(s, list.withListing(listing), listing.text());
  }

  /** Shows a list, and asks for its sources unless these are known. */
  private static Step listing(ViewState s, SourceList list, String known) {
    String pattern = list.pattern();
    return pattern.equals(known)
        ? Step.to(s.withSources(list))
        : Step.to(s.withSources(list.wanting(pattern)), new Effect.ListSources(pattern));
  }

  /** A click marks a row, a second click adds its source, a click beside the list closes it. */
  public static Step mouse(Scene scene, ViewState s, SourceList list, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return Step.to(s.withSources(list.moved(mouse.wheel())));
    }
    if (!mouse.isPress()) {
      return Step.to(s);
    }
    ListBox box = ListBox.ofSources(scene, list);
    if (!box.zone().has(mouse.x(), mouse.y())) {
      return Step.to(s.withSources(null));
    }
    Integer entry = Zone.at(box.entries(), mouse.x(), mouse.y());
    if (entry == null) {
      return Step.to(s);
    }
    SourceList marked = list.moved(entry - list.index());
    return mouse.kind() == Mouse.Kind.DOUBLE
        ? chosen(scene, s, marked)
        : Step.answer(s.withSources(marked), "enter, or a second click, adds this source");
  }

  /** Has the marked source attached; the list stays until that has an answer. */
  private static Step chosen(Scene scene, ViewState s, SourceList list) {
    if (list.asked() >= 0) {
      return Step.answer(s, "it is still being attached");
    }
    SourceListing.Row row = list.marked();
    String spec = row == null ? list.typed().strip() : row.spec();
    if (spec.isEmpty()) {
      return Step.answer(s, "type a source, or mark one with ↓");
    }
    if (row != null && !row.missing().isEmpty()) {
      return Step.answer(s, row.missing());
    }
    EventsReport events = scene.snapshot.live().events();
    for (EventsReport.Row of : events.rows()) {
      if (of.spec().equals(spec) && of.is(SourceState.ON)) {
        return Step.answer(marked(s.withSources(null), of.number()), spec + " counts already");
      }
    }
    SourceList asking = row == null ? list : list.withPrompt(Prompt.of(spec)).moved(list.index());
    return Step.to(
        s.withSources(asking.asking(events.next())).withMessage("attaching " + spec + "…"),
        new Effect.SwitchOn(events.next(), spec));
  }

  /** Closes the list once the source counts; a source that is missing leaves all as typed. */
  public static Step arrived(Scene scene, ViewState s, SourceList list) {
    if (!(scene.snapshot.context() instanceof Snapshot.Live live)) {
      return Step.to(s);
    }
    EventsReport.Row row = live.events().of(list.asked());
    if (live.ended() || row == null && live.events().next() > list.asked()) {
      return Step.answer(s.withSources(list.withTrouble("")), "sampling has ended");
    }
    if (row == null || row.attaching()) {
      return Step.to(s);
    }
    ViewState tried = s.withUsed(Typed.SPEC, row.spec());
    if (!row.is(SourceState.MISSING)) {
      return Step.answer(
          marked(tried.withSources(null), row.number()), "it counts; enter shows its graph");
    }
    Matcher column = COLUMN.matcher(row.why());
    SourceList refused = list.withTrouble(row.why());
    if (column.find()) {
      refused = refused.at(Integer.parseInt(column.group(1)) - 1);
    }
    return Step.to(
        tried.withoutMessage().withSources(refused), new Effect.RemoveSource(row.number()));
  }

  private static ViewState marked(ViewState s, int number) {
    TablePlace<Integer, Object> place = s.table(View.EVENTS);
    return s.withTable(View.EVENTS, place.withMarked(number, number + 1));
  }
}
