package flametop.cli;

import flametop.profile.live.Profile;
import flametop.sampler.KernelSource;
import flametop.view.state.EventControl;
import flametop.view.state.SourceListing;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The sources of events of this machine, switched by the screen. */
final class LiveEvents implements EventControl {
  private final KernelSource kernel;
  private final Profile profile;

  LiveEvents(KernelSource kernel, Profile profile) {
    this.kernel = kernel;
    this.profile = profile;
  }

  @Override
  public void on(int number, String spec) {
    profile.asked(number, spec);
    kernel.sourceOn(number, spec);
  }

  @Override
  public void off(int number) {
    kernel.sourceOff(number);
  }

  @Override
  public void remove(int number) {
    kernel.sourceOff(number);
    profile.remove(number);
  }

  @Override
  public CompletableFuture<SourceListing> list(String text) {
    return CompletableFuture.completedFuture(new SourceListing(text, List.of(), 0));
  }
}
