// Sleeps or spins ten calls deep in a goroutine, or on the scheduler's stack, where a goroutine has called it.
package main

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

//go:linkname systemstack runtime.systemstack
func systemstack(func())

var spin int

//go:noinline
func work() {
	switch os.Args[1] {
	case "sleep":
		os.Stdout.WriteString("ready\n")
		asleep()
	case "system":
		os.Stdout.WriteString("ready\n")
		systemstack(asleep)
	case "spin":
		os.Stdout.WriteString("ready\n")
		for {
			spin++
		}
	}
}

//go:noinline
func asleep() {
	for {
		hour := syscall.Timespec{Sec: 3600}
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&hour)), 0, 0)
	}
}

//go:noinline
func outer(depth int) int {
	if depth == 0 {
		work()
		return 1
	}
	return outer(depth-1) * 2
}

func main() {
	go func() {
		runtime.LockOSThread()
		outer(3)
	}()
	select {}
}
