package flametop.view.screen;

import flametop.profile.answer.Page;
import flametop.profile.answer.Snapshot;
import flametop.view.base.View;
import flametop.view.layout.Scene;

/** A screen with the stacks of a server, for tests of keys. */
abstract class KeysFixture extends ScreenUser {
  final Tree tree = Trees.server();

  @Override
  protected Scene scene() {
    return sceneOf(Pictures.snapshot(tree, state, 120));
  }

  Scene sceneOf(Snapshot snapshot) {
    Page page = state.view() == View.QUALITY ? Reports.quality() : null;
    return Scene.of(snapshot, page, state, 120, 30, Pictures.options());
  }

  String selected() {
    return tree.nodes.get((int) state.selected()).name;
  }
}
