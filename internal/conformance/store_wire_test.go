package conformance_test

import (
	"context"
	"net"
	"sync/atomic"
)

// countedDial connects and counts round trips: how often the client, having read an answer, writes again.
func countedDial(trips *atomic.Int64) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}

		return &countedConnection{Conn: conn, trips: trips}, nil
	}
}

type countedConnection struct {
	net.Conn

	trips   *atomic.Int64
	writing atomic.Bool
}

func (c *countedConnection) Write(b []byte) (int, error) {
	if !c.writing.Swap(true) {
		c.trips.Add(1)
	}

	return c.Conn.Write(b)
}

func (c *countedConnection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.writing.Store(false)
	}

	return n, err
}
