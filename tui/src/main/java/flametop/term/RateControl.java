package flametop.term;

/** Changes both sampling clocks while they run. */
@FunctionalInterface
public interface RateControl {
  /**
   * @param passHz passes a second
   * @param cpuHz samples a second and CPU; 0 switches the CPU clock off
   */
  void setRates(int passHz, int cpuHz);
}
