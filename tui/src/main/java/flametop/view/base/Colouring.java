package flametop.view.base;

import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.sampler.State;

/** The meaning of the colour of a frame. The shade always follows from the name of the frame. */
public enum Colouring {
  /** The kind of the frame: user, kernel, JIT … */
  KIND("kind"),

  /**
   * The state in which the frame spent most of its time; the kind of the frame until states are
   * known.
   */
  STATE("state");

  private static final State[] STATES = State.values();

  private final String label;

  Colouring(String label) {
    this.label = label;
  }

  public String label() {
    return label;
  }

  public Colouring next() {
    return this == KIND ? STATE : KIND;
  }

  private Role role(GraphSlice slice, int index) {
    return this == KIND || slice.state() == null
        ? Role.of(slice.kind()[index])
        : Role.of(STATES[slice.state()[index]]);
  }

  /** The paint of a node. */
  public int paint(GraphSlice slice, int index) {
    int shade = slice.kind()[index] == NodeKind.ROOT ? 0 : Paint.shade(slice.name()[index]);
    return Paint.of(role(slice, index), shade);
  }
}
