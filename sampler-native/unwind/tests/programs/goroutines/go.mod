module goroutines

go 1.18
