// Goroutines on one processor, for the table `threads`: as `../src/main.rs` says it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Goroutines that are forked before they run.
const together = 64

// Two goroutines that wait for each other.
type pair struct {
	lock     sync.Mutex
	ours     *sync.Cond
	theirs   *sync.Cond
	isTheirs bool
	isOver   bool
	ended    sync.WaitGroup
}

func newPair() *pair {
	p := &pair{}
	p.ours = sync.NewCond(&p.lock)
	p.theirs = sync.NewCond(&p.lock)
	return p
}

func (p *pair) over() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.isOver
}

// The other goroutine of the pair.
func (p *pair) play(which string) {
	defer p.ended.Done()
	switch which {
	case "yield":
		for !p.over() {
			// As many yields as make the look at the lock nothing.
			for range together {
				runtime.Gosched()
			}
		}
	case "pingpong":
		p.lock.Lock()
		for !p.isOver {
			if p.isTheirs {
				p.isTheirs = false
				p.ours.Signal()
			}
			p.theirs.Wait()
		}
		p.lock.Unlock()
	}
}

func (p *pair) end() {
	p.lock.Lock()
	p.isOver = true
	p.theirs.Signal()
	p.lock.Unlock()
	p.ended.Wait()
}

// So many operations.
func (p *pair) batch(which string, count int) {
	switch which {
	case "fork":
		var ended atomic.Int64
		for forked := 1; forked <= count; forked++ {
			go func() { ended.Add(1) }()
			for forked%together == 0 && ended.Load() < int64(forked) {
				runtime.Gosched()
			}
		}
	case "fork-join":
		var joined sync.WaitGroup
		for range count {
			joined.Add(1)
			go func() { joined.Done() }()
			joined.Wait()
		}
	case "yield":
		for range count / 2 {
			runtime.Gosched()
		}
	case "pingpong":
		p.lock.Lock()
		for range count / 2 {
			p.isTheirs = true
			p.theirs.Signal()
			for p.isTheirs {
				p.ours.Wait()
			}
		}
		p.lock.Unlock()
	}
}

func isCase(which string) bool {
	switch which {
	case "fork", "fork-join", "yield", "pingpong":
		return true
	}
	return false
}

func main() {
	runtime.GOMAXPROCS(1)
	fmt.Println("ready", strings.TrimPrefix(runtime.Version(), "go"))
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var which string
		var warmUp, batches, batch int
		_, err := fmt.Sscan(orders.Text(), &which, &warmUp, &batches, &batch)
		if err != nil || !isCase(which) {
			fmt.Fprintf(os.Stderr, "threads: `%s` is no order\n", orders.Text())
			os.Exit(1)
		}
		p := newPair()
		p.ended.Add(1)
		go p.play(which)
		p.batch(which, warmUp)
		times := make([]string, batches)
		for index := range times {
			start := time.Now()
			p.batch(which, batch)
			times[index] = fmt.Sprint(time.Since(start).Nanoseconds())
		}
		p.end()
		fmt.Println(strings.Join(times, " "))
	}
}
