// SPDX-License-Identifier: Apache-2.0
// Shop: prices carts without end, for a minute at most.

class Shop {
  private static final long LIFE = 60_000_000_000L;
  private static long sink;

  public static void main(String[] args) {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < LIFE) {
      serve();
    }
    System.out.println(sink);
  }

  private static void serve() {
    for (int i = 0; i < 100; i++) {
      sink += priceCart(i);
    }
  }

  private static long priceCart(int cart) {
    long price = cart;
    for (int i = 0; i < 100_000; i++) {
      price = price * 6364136223846793005L + i;
    }
    return price;
  }
}
