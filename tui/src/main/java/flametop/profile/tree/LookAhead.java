package flametop.profile.tree;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** An iterator that has to find its next element to know whether there is one. */
public abstract class LookAhead<T> implements Iterator<T> {
  /** The next element, if it was found already. */
  private @Nullable T found;

  private boolean ended;

  /** Finds the next element; null if there is none, and then nobody asks again. */
  protected abstract @Nullable T find();

  @Override
  public final boolean hasNext() {
    if (found == null && !ended) {
      found = find();
      ended = found == null;
    }
    return found != null;
  }

  @Override
  public final T next() {
    T next = hasNext() ? found : null;
    if (next == null) {
      throw new NoSuchElementException();
    }
    found = null;
    return next;
  }
}
