package flametop.profile.tree;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SiblingOrderTest {
  @Test
  void compareSizes_changesOfLessThanATenth_keepThePlaces() {
    SiblingOrder order = new SiblingOrder();
    order.measure(1, 0.50);
    order.measure(2, 0.48);
    order.measure(1, 0.47);
    order.measure(2, 0.50);
    assertTrue(order.compareSizes(1, 2) < 0);
    order.measure(1, 0.40);
    assertTrue(order.compareSizes(1, 2) > 0);
  }
}
