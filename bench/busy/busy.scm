; Busy in middle and leaf.
(define (leaf n)
  (let loop ((i 0) (x n))
    (if (< i 200)
        (loop (+ i 1) (modulo (+ (* x 31) (modulo i 7)) 1000003))
        (if (= n 0) x (+ x (leaf (- n 1)))))))
(define (middle) (+ (leaf 5) (string-length (number->string (expt 7 500))) (leaf 4)))
(let forever () (middle) (forever))
