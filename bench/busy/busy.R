# Busy in middle and leaf.
leaf <- function(n) {
  x <- n
  for (i in 1:200) x <- (x * 31 + i %% 7) %% 1000003
  if (n == 0) x else x + leaf(n - 1)
}
middle <- function() sum(sapply(1:5, function(i) leaf(i))) + sum(sort(runif(2000))[1:3])
repeat middle()
