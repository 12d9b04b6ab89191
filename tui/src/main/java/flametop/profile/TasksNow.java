package flametop.profile;

import flametop.sampler.State;

/** What every task that lives does at one moment: the present, or one that is held. */
interface TasksNow {
  int count();

  boolean admitted(int task, Shape shape);

  int tgid(int task);

  int tid(int task);

  int uid(int task);

  String comm(int task);

  String processComm(int task);

  String commandLine(int task);

  State state(int task);

  /** When that state began, ns. */
  long since(int task);

  /** See {@link Stacks#innermost}. */
  Function innermost(int task, boolean outsideKernel);

  /** The same, whatever comes. */
  default TasksNow held() {
    int count = count();
    HeldTasks.Task[] tasks = new HeldTasks.Task[count];
    for (int i = 0; i < count; i++) {
      tasks[i] =
          new HeldTasks.Task(
              tgid(i),
              tid(i),
              uid(i),
              comm(i),
              processComm(i),
              commandLine(i),
              state(i),
              since(i),
              innermost(i, false),
              innermost(i, true));
    }
    return new HeldTasks(tasks);
  }
}
