package flametop.cli;

import flametop.profile.answer.Shape;
import flametop.sampler.CleanText;
import flametop.sampler.Users;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** The part of the target that is shown. */
final class FilterOptions {
  private static final int MAX_COMM = 64;

  @Option(
      names = "-c",
      order = 4,
      paramLabel = "COMM",
      description = {
        "show only programs of this name; -u USER: of this user",
        "Shows only threads with this comm and threads of processes with this comm. A filter: it narrows what is shown, not what is sampled. The option may be repeated."
      })
  private List<String> comms = new ArrayList<>();

  @Option(
      names = "-u",
      order = 5,
      hidden = true,
      paramLabel = "USER",
      description = {
        "show only this user's processes",
        "Shows only processes of this user, by name or number. A filter. The option may be repeated."
      })
  private List<String> users = new ArrayList<>();

  boolean given() {
    return !comms.isEmpty() || !users.isEmpty();
  }

  Shape filter() {
    if (comms.contains("")) {
      throw Failure.usage("-c takes the name of a thread or process; the empty one is nobody's");
    }
    Set<String> clean = new HashSet<>();
    comms.forEach(comm -> clean.add(CleanText.clean(comm, MAX_COMM)));
    Set<Integer> uids = new HashSet<>();
    if (!users.isEmpty()) {
      Users known = new Users();
      for (String user : users) {
        String wrong = "-u '" + CleanText.clean(user, MAX_COMM) + "': there is no such user";
        String remedy = "; give a name of /etc/passwd, or a uid";
        uids.add(known.uid(user).orElseThrow(() -> Failure.usage(wrong + remedy)));
      }
    }
    Shape shape = Shape.PLAIN;
    if (!clean.isEmpty()) {
      shape = shape.plus(new Shape.Comms(clean, false));
    }
    return uids.isEmpty() ? shape : shape.plus(new Shape.Users(uids, false));
  }
}
