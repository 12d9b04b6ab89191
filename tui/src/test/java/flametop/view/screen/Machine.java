package flametop.view.screen;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.Source;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TopQuery;
import flametop.view.base.Prompt;
import flametop.view.state.Search;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The server as a source of snapshots. */
public class Machine implements LiveSource {
  private final Tree tree = Trees.server();
  private Moment moment = Moment.ALL;

  @Override
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    ViewState asked = ViewState.initial(query.states(), Shape.PLAIN, 19, 99, Pictures.SECOND);
    asked = asked.withSelected(query.selected(), List.of(0L)).withMoment(moment);
    asked =
        asked.withZooms(
            query.zoom() == 0 && query.siblings() == null
                ? List.of()
                : List.of(new Zoom(query.zoom(), query.siblings())));
    asked =
        asked.withSearch(
            query.search() == null
                ? null
                : new Search(Prompt.of(""), false, query.search(), "", 0));
    return CompletableFuture.completedFuture(Pictures.snapshot(tree, asked, query.columns()));
  }

  @Override
  public CompletableFuture<Page> page(PageQuery query) {
    Page page = Reports.quality();
    if (query instanceof CpuReport.Query) {
      page = new CpuReport(Reports.cpus(2), "", "", "");
    } else if (query instanceof SandwichQuery sandwich) {
      page = SandwichPictures.page(tree, sandwich, true, false);
    } else if (query instanceof TopQuery top) {
      page = TablePictures.top(tree, top);
    } else if (query instanceof TasksQuery tasks) {
      page = TablePictures.tasks(tasks);
    }
    return CompletableFuture.completedFuture(page);
  }

  @Override
  public void measure(int source) {}

  @Override
  public CompletableFuture<List<ProcessRow>> rows(ProcessRow.By by, StateSet states) {
    return CompletableFuture.completedFuture(
        by == ProcessRow.By.CGROUP ? Reports.cgroups() : Reports.processes());
  }

  @Override
  public CompletableFuture<Source> source(StateSet states, long node) {
    return CompletableFuture.completedFuture(Reports.source(node));
  }

  @Override
  public void shape(Shape shape) {}

  @Override
  public void show(Moment next) {
    moment = next;
  }
}
