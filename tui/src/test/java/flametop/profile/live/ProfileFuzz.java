package flametop.profile.live;

import flametop.profile.tree.Options;
import flametop.sampler.StreamFacts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Batches of a stream without its header, taken into a profile. */
public final class ProfileFuzz {
  private static final int LENGTH_BYTES = 4;

  private ProfileFuzz() {}

  /** Any bytes. */
  public static void fuzzerTestOneInput(byte[] bytes)
      throws InterruptedException, ExecutionException, TimeoutException {
    StreamFacts facts = StreamFacts.parse("cpus=0,1\nhz.pass=19\nhz.cpu=99\ntarget=all\n");
    try (Profile profile = new Profile(facts, Options.DEFAULT, (frames, count) -> {})) {
      ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      while (all.remaining() > LENGTH_BYTES) {
        int length = Math.max(1, Math.min(all.getInt(all.position()), all.remaining()));
        profile.accept(all.slice(all.position(), length), batch -> {});
        all.position(all.position() + length);
      }
      profile.counters().get(1, TimeUnit.MINUTES);
      if (profile.failure().isPresent()) {
        throw new IllegalStateException(profile.failure().get());
      }
    }
  }
}
