package flametop.profile.live;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import flametop.sampler.Call;
import flametop.sampler.NameRequests;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where frames are in the source, as far as somebody asked. */
final class Places {
  /** The calls at a frame, or why there are none. */
  record Answer(List<Call> calls, String missing) {}

  private static final long CACHE_BYTES = 8L << 20;

  private final NameRequests requests;
  private final Cache<Integer, Answer> answers =
      Caffeine.newBuilder()
          .maximumWeight(CACHE_BYTES)
          .weigher((Integer frame, Answer answer) -> weight(answer))
          .executor(Runnable::run)
          .build();

  /** The frames that were asked for and not answered yet. */
  private final BitSet awaited = new BitSet();

  Places(NameRequests requests) {
    this.requests = requests;
  }

  private static int weight(Answer answer) {
    int bytes = 96 + answer.missing.length();
    for (Call call : answer.calls) {
      bytes += 128 + call.function().length() + call.file().length();
    }
    return bytes;
  }

  /** The places that are known of a frame; null if none are. */
  @Nullable Answer of(int frame) {
    return answers.getIfPresent(frame);
  }

  /** Asks for the places of those frames that are not known, once for each frame. */
  void want(int[] frames) {
    int[] asked =
        Arrays.stream(frames).filter(of -> !awaited.get(of) && of(of) == null).distinct().toArray();
    Arrays.stream(asked).forEach(awaited::set);
    if (asked.length > 0) {
      requests.askPlaces(asked, asked.length);
    }
  }

  void answered(int frame, List<Call> calls, String missing) {
    awaited.clear(frame);
    answers.put(frame, new Answer(calls, missing));
  }

  /** Forgets the place of a frame: its number stands for another frame now. */
  void forget(int frame) {
    awaited.clear(frame);
    answers.invalidate(frame);
  }
}
