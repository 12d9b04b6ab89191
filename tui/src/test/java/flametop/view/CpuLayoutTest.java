package flametop.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CpuLayoutTest {
  @Test
  void of_moreCpus_fromRowsOverColumnsToAMap() {
    assertEquals(CpuLayout.Kind.ROWS, CpuLayout.of(2, 80, 24).kind());
    assertEquals(CpuLayout.Kind.COLUMNS, CpuLayout.of(16, 80, 24).kind());
    assertEquals(CpuLayout.Kind.MAP, CpuLayout.of(128, 80, 24).kind());
    assertEquals(CpuLayout.Kind.ROWS, CpuLayout.of(4, 200, 60).kind());
    assertEquals(CpuLayout.Kind.COLUMNS, CpuLayout.of(16, 200, 60).kind());
    assertEquals(CpuLayout.Kind.BUSIEST, CpuLayout.of(128, 200, 60).kind());
    assertEquals(CpuLayout.Kind.MAP, CpuLayout.of(512, 200, 60).kind());
  }

  @Test
  void of_anySize_everyCpuHasItsPlaceAndTheGraphMostOfTheRows() {
    for (int cpus = 1; cpus <= 16_384; cpus += 1 + cpus / 7) {
      for (int columns = 40; columns <= 320; columns += 13) {
        for (int rows = 10; rows <= 100; rows += 3) {
          CpuLayout layout = CpuLayout.of(cpus, columns, rows);
          String of = cpus + " CPUs, " + columns + "×" + rows + ": " + layout;
          assertTrue(layout.rows() >= 1 && layout.rows() <= Math.max(2, rows / 6), of);
          switch (layout.kind()) {
            case ROWS -> assertEquals(cpus, layout.rows(), of);
            case COLUMNS -> assertTrue(cpus <= layout.rows() * layout.across(), of);
            case BUSIEST ->
                assertTrue(
                    layout.busiest() >= 1
                        && cpus - layout.busiest() <= columns - CpuLayout.REST_LABELS,
                    of);
            case MAP -> {
              assertTrue(layout.across() + CpuLayout.MAP_LABELS <= Math.max(columns, 23), of);
              assertTrue(cpus <= layout.rows() * layout.across() * layout.perCell(cpus), of);
            }
          }
        }
      }
    }
  }
}
