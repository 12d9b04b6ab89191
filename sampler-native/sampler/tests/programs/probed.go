// A function of Go that is called so often as the argument says. Prints `ready`, and begins when told.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

type worker struct{ sum int }

//go:noinline
func (w *worker) Do(n int) int {
	until := time.Now().Add(time.Millisecond)
	for time.Now().Before(until) {
		w.sum += n
	}
	return w.sum
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	fmt.Println("ready")
	byte := make([]byte, 1)
	os.Stdin.Read(byte)
	w := &worker{}
	begin := time.Now()
	for i := 0; i < count; i++ {
		w.Do(i)
	}
	fmt.Println("did", time.Since(begin).Nanoseconds())
	os.Stdin.Read(byte)
}
