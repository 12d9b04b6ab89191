package flametop.profile.tree;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** An iterator that has to find its next element to know whether there is one. */
public abstract class LookAhead<T> implements Iterator<T> {
  private T found;
  private boolean ended;

  /** The next element; null if there is none, and then it is not asked again. */
  protected abstract T find();

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
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    T next = found;
    found = null;
    return next;
  }
}
