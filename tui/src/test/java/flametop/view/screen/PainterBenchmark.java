package flametop.view.screen;

import flametop.Stage;
import flametop.profile.answer.Snapshot;
import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;
import flametop.view.state.ViewState;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** Layout and painting of 200 × 60 cells, 3,000 stacks, which is to stay under 5 ms. */
public class PainterBenchmark extends Stage {
  private final ViewState state = Pictures.state();
  private Snapshot snapshot;
  private Snapshot later;
  private Scene live;
  private boolean odd;
  private Scene scene;
  private CellGrid grid;

  @Setup
  public void fill() {
    Tree tree = Trees.server();
    Random random = new Random(1);
    for (int i = 0; i < 3000; i++) {
      String[] frames = new String[20];
      for (int f = 0; f < frames.length; f++) {
        frames[f] = "frame_" + random.nextInt(f < 3 ? 6 : 3);
      }
      tree.stack(1 + random.nextInt(60), frames);
    }
    snapshot = Pictures.snapshot(tree, state, 200);
    scene = Scene.of(snapshot, state, 200, 60, Pictures.options());
    live = scene;
    for (int i = 0; i < 20; i++) {
      tree.stack(1 + random.nextInt(60), "frame_0", "frame_" + random.nextInt(6), "frame_1");
    }
    later = Pictures.snapshot(tree, state, 200);
  }

  /** A picture of another moment, over the one before the last. */
  @Benchmark
  public Object paint() {
    odd = !odd;
    live = live.next(odd ? later : snapshot, null, state, 200, 60, Pictures.options());
    grid = Painter.paint(live, grid);
    return grid;
  }

  /** A picture of the same moment, as after an arrow. */
  @Benchmark
  public Object key() {
    scene = scene.next(snapshot, null, state, 200, 60, Pictures.options());
    grid = Painter.paint(scene, grid);
    return grid;
  }
}
