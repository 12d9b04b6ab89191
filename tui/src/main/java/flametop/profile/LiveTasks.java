package flametop.profile;

import flametop.sampler.State;

/** What every task does now. */
final class LiveTasks implements TasksNow {
  private final Owners owners;
  private final Accounts accounts;
  private final Stacks stacks;

  LiveTasks(Owners owners, Accounts accounts, Stacks stacks) {
    this.owners = owners;
    this.accounts = accounts;
    this.stacks = stacks;
  }

  private int process(int task) {
    return owners.processOfTask(owners.liveTask(task));
  }

  @Override
  public int count() {
    return owners.liveTasks();
  }

  @Override
  public boolean admitted(int task, Shape shape) {
    return owners.admitsTask(shape, owners.liveTask(task));
  }

  @Override
  public int tgid(int task) {
    return owners.tgid(process(task));
  }

  @Override
  public int tid(int task) {
    return owners.tidOfTask(owners.liveTask(task));
  }

  @Override
  public int uid(int task) {
    return owners.uid(process(task));
  }

  @Override
  public String comm(int task) {
    return owners.commOfTask(owners.liveTask(task));
  }

  @Override
  public String processComm(int task) {
    return owners.commOfProcess(process(task));
  }

  @Override
  public String commandLine(int task) {
    return owners.commandLine(process(task));
  }

  @Override
  public State state(int task) {
    return owners.stateOfTask(owners.liveTask(task));
  }

  @Override
  public long since(int task) {
    return accounts.since(owners.liveTask(task));
  }

  @Override
  public Function innermost(int task, boolean outsideKernel) {
    return stacks.innermost(accounts.stack(owners.liveTask(task)), outsideKernel);
  }
}
