package flametop.profile.log;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import flametop.array.IntColumn;
import flametop.sampler.NameRequests;
import flametop.sampler.NameSource;
import org.jspecify.annotations.Nullable;

/**
 * Names of functions that were answered once, and the requests for those that were not; each is
 * asked for once.
 */
public final class Names {
  /** A place in a file that stays what it is, whoever loads it. */
  public record Place(String path, String buildId, long offset) {
    // A record's own are made when they are first used, which takes 20 ms.

    @Override
    public boolean equals(Object other) {
      return other instanceof Place place
          && offset == place.offset
          && path.equals(place.path)
          && buildId.equals(place.buildId);
    }

    @Override
    public int hashCode() {
      return 31 * (31 * path.hashCode() + buildId.hashCode()) + Long.hashCode(offset);
    }
  }

  public record Name(NameSource source, String text) {}

  private static final long CACHE_BYTES = 8L << 20;

  private final NameRequests requests;
  private final Cache<Place, Name> answered =
      Caffeine.newBuilder()
          .maximumWeight(CACHE_BYTES)
          .weigher((Place place, Name name) -> 96 + 2 * name.text().length())
          .executor(Runnable::run)
          .build();
  private final IntColumn wanted = new IntColumn();

  public Names(NameRequests requests) {
    this.requests = requests;
  }

  /**
   * The name of a frame, if it is known already.
   *
   * @param place null if the frame is in no file that stays what it is
   * @return null if nobody has answered yet: the next {@link #flush} asks
   */
  public @Nullable Name want(int frame, @Nullable Place place) {
    Name name = place == null ? null : answered.getIfPresent(place);
    if (name == null) {
      wanted.add(frame);
    }
    return name;
  }

  /**
   * The name of a frame came.
   *
   * @param place null if the frame is in no file that stays what it is
   */
  public void answered(@Nullable Place place, Name name) {
    // What has no symbol now may have one when its debug file has come.
    boolean last =
        name.source() != NameSource.FUNCTION_START
            && name.source() != NameSource.UNKNOWN
            && name.source() != NameSource.LIMIT;
    if (place != null && last) {
      answered.put(place, name);
    }
  }

  public void flush() {
    if (wanted.size > 0) {
      requests.ask(wanted.items, wanted.size);
      wanted.clear();
    }
  }
}
