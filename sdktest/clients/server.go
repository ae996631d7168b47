package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// server is a program that serves.
type server struct {
	cmd *exec.Cmd
	log string // file
	url string
}

// serve starts a program and waits until it answers at path. In its arguments and
// its environment $ADDRESS is where to listen.
func serve(log, path string, env []string, program string, args ...string) (*server, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().(*net.TCPAddr)
	free.Close()
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	fill := func(texts []string) (filled []string) {
		for _, text := range texts {
			filled = append(filled, os.Expand(text, func(name string) string {
				switch name {
				case "ADDRESS":
					return address.String()
				case "PORT":
					return fmt.Sprint(address.Port)
				}
				return "$" + name
			}))
		}
		return filled
	}
	s := &server{exec.Command(program, fill(args)...), log, "http://" + address.String()}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), fill(env)...), out, out
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 300 {
		if reply, err := http.Get(s.url + path); err == nil {
			reply.Body.Close()
			if reply.StatusCode != http.StatusServiceUnavailable { // llama-server: it loads
				return s, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s does not serve: %s", program, s.said())
}

func (s *server) said() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}
