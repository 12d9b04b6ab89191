package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.sampler.IdSpace;
import flametop.sampler.State;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Below whom processes stand; process, task and number of each are the same. */
class AncestorTest {
  private final Owners owners = new Owners();

  private void process(int tgid, String comm, String commandLine, int parent) {
    owners.processes().seen(tgid, tgid, 0, comm, commandLine);
    owners.tasks().seen(tgid, tgid, tgid, comm);
    owners.tasks().state(tgid, State.RUN);
    if (parent > 0) {
      owners.processes().parent(tgid, parent);
    }
  }

  private String ancestor(int tgid) {
    return owners.ancestor(owners.owner(tgid));
  }

  /** Ids are dense in a stream; here so many are given first. */
  private void upTo(int tgid) {
    for (int id = 0; id <= tgid; id++) {
      owners.processes().seen(id, id, 0, "", "");
    }
  }

  @Test
  void parent_belowAServiceOfInit_isThatService() {
    upTo(9);
    process(1, "anything", "", 0);
    process(2, "kthreadd", "", 0);
    process(3, "ksoftirqd/0", "", 2);
    process(4, "nginx", "nginx: master process /usr/sbin/nginx", 1);
    process(5, "nginx", "nginx: worker process", 4);
    process(6, "sh", "/bin/sh -c stuff", 5);
    process(7, "cat", "cat", 6);
    assertEquals("anything-1", ancestor(1));
    assertEquals("kthreadd-2", ancestor(3));
    assertEquals("nginx: master process-4", ancestor(4));
    assertEquals("nginx: master process-4", ancestor(5));
    assertEquals("nginx: master process-4", ancestor(7));
    process(8, "lonely", "", 0);
    assertEquals("lonely-8", ancestor(8));
  }

  @Test
  void parent_startersOfEachKind_leaveTheirChildrenOnTheirOwn() {
    upTo(99);
    List<String> starters =
        List.of(
            "systemd", "containerd-shim", "tini", "sshd", "sshd-session", "cron", "tmux: server");
    for (int i = 0; i < starters.size(); i++) {
      process(10 + 3 * i, starters.get(i), "", 0);
      process(11 + 3 * i, "app", "app", 10 + 3 * i);
      process(12 + 3 * i, "child", "child", 11 + 3 * i);
      assertEquals("app-" + (11 + 3 * i), ancestor(12 + 3 * i), starters.get(i));
    }
    process(50, "containerd-shop", "", 0);
    process(51, "app", "", 50);
    assertEquals("containerd-shop-50", ancestor(51), "not each name that begins so");
  }

  @Test
  void parent_commandsInAShell_areAncestorsOnceTheyStartSomething() {
    upTo(9);
    process(2, "sshd", "", 0);
    process(3, "bash", "-bash", 2);
    process(4, "true", "true", 3);
    process(5, "make", "make -j8", 3);
    int before = owners.owner(5);
    assertEquals("bash-3", ancestor(4));
    assertEquals("bash-3", ancestor(5), "it has started nothing yet");
    process(6, "cc1", "cc1 x.c", 5);
    assertEquals("make-5", ancestor(6));
    assertEquals("make-5", ancestor(5));
    assertEquals("bash-3", owners.ancestor(before), "what was logged keeps its ancestor");
    process(7, "bash", "bash build.sh", 3);
    process(8, "bash", "bash", 7);
    assertEquals("bash build.sh-7", ancestor(8));
  }

  @Test
  void processSeen_commandLineComesAfterChildren_theyStandBelowTheNewName() {
    upTo(9);
    process(3, "bash", "", 0);
    process(4, "make", "make", 3);
    process(5, "cc1", "cc1", 4);
    int before = owners.owner(5);
    assertEquals("bash-3", owners.ancestor(before));
    owners.processes().seen(3, 3, 0, "bash", "bash build.sh");
    assertEquals("bash build.sh-3", ancestor(5));
    owners.processes().seen(3, 3, 0, "bash", "-bash");
    assertEquals("make-4", ancestor(5), "it turned out to be a shell for typing");
    assertEquals("bash-3", owners.ancestor(before));
  }

  @Test
  void parent_isGoneAndForgotten_theChildKeepsTheAncestor() {
    upTo(9);
    process(3, "storm", "storm", 0);
    process(4, "sh", "sh -c x", 3);
    process(5, "sleep", "sleep 9", 4);
    for (int id : new int[] {4, 3}) {
      owners.gone(id);
      owners.forget(IdSpace.TASK, new int[] {id});
      owners.forget(IdSpace.PROCESS, new int[] {id});
    }
    owners.sweep(new BitSet(), owner -> {}, process -> {});
    owners.processes().seen(3, 77, 0, "other", "other");
    assertEquals("storm-3", ancestor(5));
    owners.processes().seen(4, 5, 0, "exec", "exec");
    owners.tasks().seen(5, 4, 5, "exec");
    owners.processes().parent(4, 5);
    assertEquals("storm-3", ancestor(5), "also as the image after an exec");
  }

  @Test
  void older_ofAStorm_isOneForEachNameAndAncestor() {
    upTo(2_000);
    owners.tasks().moment(1);
    process(1_990, "make", "make", 0);
    Set<Integer> old = new HashSet<>();
    for (int i = 10; i < 1_000; i++) {
      process(i, "cc1", "cc1", 1_990);
      int owner = owners.owner(i);
      owners.gone(i);
      old.add(owners.older(owner, 2));
    }
    assertEquals(1, old.size());
    assertEquals("make-1990", owners.ancestor(old.iterator().next()));
    int owner = owners.owner(1_990);
    owners.gone(1_990);
    assertEquals("make-[older]", owners.ancestor(owners.older(owner, 2)));
  }

  /** A program that forks and ends, again and again. */
  @Test
  void startedBy_endlessChain_keepsTheAncestorAndForgetsTheParents() {
    ProcessEntry first = new ProcessEntry();
    first.tgid = 10;
    ProcessEntry last = first;
    List<WeakReference<ProcessEntry>> all = new ArrayList<>();
    for (int i = 1; i <= 1_000; i++) {
      ProcessEntry next = new ProcessEntry();
      next.tgid = 10 + i;
      next.startedBy(last);
      assertSame(first, next.ancestor());
      all.add(new WeakReference<>(next));
      last = next;
    }
    long kept = all.size();
    for (int i = 0; i < 50 && kept > ProcessEntry.MOST_PARENTS + 1; i++) {
      // Garbage has the young objects collected: an explicit collection is disabled in tests.
      for (int mebibytes = 0; mebibytes < 64; mebibytes++) {
        byte[] unused = new byte[1 << 20];
      }
      kept = all.stream().filter(entry -> entry.get() != null).count();
    }
    assertTrue(kept <= ProcessEntry.MOST_PARENTS + 1, kept + " are kept");
    assertSame(first, last.ancestor());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void ancestor_anyTree_isTheHighestBelowAStarter(long seed) {
    Random random = new Random(seed);
    int count = 500;
    upTo(count);
    String[] comms = {"a", "b", "sshd", "sh", "bash"};
    List<Integer> parents = new ArrayList<>(List.of(0, 0));
    List<String> names = new ArrayList<>(List.of("", ""));
    process(1, "one", "", 0);
    for (int i = 2; i < count; i++) {
      String comm = comms[random.nextInt(comms.length)];
      parents.add(random.nextInt(9) == 0 ? 0 : 1 + random.nextInt(i - 1));
      names.add(comm);
      process(i, comm, "/bin/" + comm, parents.get(i));
    }
    Set<Integer> starts = new HashSet<>(parents);
    for (int i = 2; i < count; i++) {
      int top = i;
      for (int above = parents.get(top); above > 1; above = parents.get(top)) {
        String comm = names.get(above);
        if (comm.equals("sshd") || comm.endsWith("sh") && starts.contains(top)) {
          break;
        }
        top = above;
      }
      assertEquals(names.get(top) + "-" + top, ancestor(i), "process " + i);
    }
  }
}
