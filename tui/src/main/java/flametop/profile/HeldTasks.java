package flametop.profile;

import flametop.sampler.State;

/** What every task did at a moment that is held. */
final class HeldTasks implements TasksNow {
  record Task(
      int tgid,
      int tid,
      int uid,
      String comm,
      String processComm,
      String commandLine,
      State state,
      long since,
      Function leaf,
      Function user) {}

  private final Task[] tasks;

  HeldTasks(Task[] tasks) {
    this.tasks = tasks;
  }

  @Override
  public int count() {
    return tasks.length;
  }

  @Override
  public boolean admitted(int task, Shape shape) {
    Task t = tasks[task];
    return shape.admits(t.tgid, t.tid, t.uid, t.comm, t.processComm);
  }

  @Override
  public int tgid(int task) {
    return tasks[task].tgid;
  }

  @Override
  public int tid(int task) {
    return tasks[task].tid;
  }

  @Override
  public int uid(int task) {
    return tasks[task].uid;
  }

  @Override
  public String comm(int task) {
    return tasks[task].comm;
  }

  @Override
  public String processComm(int task) {
    return tasks[task].processComm;
  }

  @Override
  public String commandLine(int task) {
    return tasks[task].commandLine;
  }

  @Override
  public State state(int task) {
    return tasks[task].state;
  }

  @Override
  public long since(int task) {
    return tasks[task].since;
  }

  @Override
  public Function innermost(int task, boolean outsideKernel) {
    return outsideKernel ? tasks[task].user : tasks[task].leaf;
  }
}
