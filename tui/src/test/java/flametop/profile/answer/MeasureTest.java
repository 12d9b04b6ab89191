package flametop.profile.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MeasureTest {
  @Test
  void text_ofTime_isInTheUnitThatSuits() {
    assertEquals("0.0 ms", Measure.TIME.text(0));
    assertEquals("12.3 ms", Measure.TIME.text(12_345_678));
    assertEquals("3.4 s", Measure.TIME.text(3_420_000_000L));
    assertEquals("1,234 s", Measure.TIME.text(1_234_400_000_000L));
    assertEquals("12.3 ms", Measure.of("us", 10).figure(123_456));
  }

  @Test
  void text_ofBytes_isInPowersOf1024() {
    assertEquals("0 B", Measure.BYTES.text(0));
    assertEquals("1,023 B", Measure.BYTES.text(1_023));
    assertEquals("1.0 KiB", Measure.BYTES.text(1_024));
    assertEquals("4.5 MiB", Measure.BYTES.figure(4_718_592));
    assertEquals("8.0 EiB", Measure.BYTES.text(Long.MAX_VALUE));
    assertEquals("2.0 KiB", Measure.of("bytes", 10).text(20_480));
  }

  @Test
  void text_ofThings_namesThem() {
    assertEquals("1,234,567 samples", Measure.SAMPLES.text(1_234_567));
    assertEquals("1,234", Measure.SAMPLES.figure(1_234));
    Measure parts = Measure.of("events", 1_000);
    assertEquals("12 events", parts.text(12_000));
    assertEquals("0.012 events", parts.text(12));
    assertEquals("12.35", parts.figure(12_345));
    assertEquals("1,235", parts.figure(1_234_567));
  }

  @Test
  void title_ofTime_isTimeElseTheUnit() {
    assertEquals("time", Measure.TIME.title());
    assertEquals("bytes", Measure.BYTES.title());
    assertTrue(Measure.of("us", 1).isTime());
    assertFalse(Measure.of("page-faults", 1).isTime());
  }

  @Test
  void sum_ofAnExport_isExact() {
    assertEquals("12.345 s of task time", Measure.TIME.sum(12_345_000, "12345000"));
    assertEquals("1,234 samples", Measure.SAMPLES.sum(1_234, "1234"));
    assertEquals("1.5 samples", Measure.SAMPLES.sum(1.5, "1.5"));
    assertEquals("4,096 bytes", Measure.BYTES.sum(4_096, "4096"));
  }
}
