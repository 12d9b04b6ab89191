package flametop.cli;

import flametop.profile.live.Profile;
import flametop.sampler.KernelSource;
import flametop.sampler.SamplerException;
import flametop.sampler.Target;
import flametop.view.state.EventControl;
import flametop.view.state.SourceListing;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The sources of events of this machine, switched by the screen. */
final class LiveEvents implements EventControl {
  private final KernelSource kernel;
  private final Profile profile;
  private final Target target;

  /**
   * @param target processes whose files are looked into for probes and functions
   */
  LiveEvents(KernelSource kernel, Profile profile, Target target) {
    this.target = target;
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
    return CompletableFuture.supplyAsync(() -> listed(text), LiveEvents::start);
  }

  private static void start(Runnable does) {
    Thread thread = new Thread(does, "listing");
    thread.setDaemon(true);
    thread.start();
  }

  private SourceListing listed(String text) {
    try {
      KernelSource.SourceList found = KernelSource.events(target, text, SourceListing.MOST);
      return new SourceListing(
          text,
          found.first().stream()
              .map(each -> new SourceListing.Row(each.spec(), each.details(), each.missing()))
              .toList(),
          found.all(),
          "");
    } catch (SamplerException e) {
      return new SourceListing(text, List.of(), 0, String.valueOf(e.getMessage()));
    }
  }
}
