; Busy in middle and leaf.
(defun leaf (n)
  (let ((x n))
    (dotimes (i 200) (setf x (mod (+ (* x 31) (mod i 7)) 1000003)))
    (if (= n 0) x (+ x (leaf (- n 1))))))
(defun middle () (+ (leaf 5) (length (write-to-string (expt 7 500))) (leaf 4)))
(loop (middle))
