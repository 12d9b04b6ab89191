# Busy in middle and leaf.
def leaf(n):
    x = n
    for i in range(200):
        x = x * 31 % 1000003 + i % 7
    return x if n == 0 else x + leaf(n - 1)


def middle():
    return leaf(5) + leaf(4)


while True:
    middle()
