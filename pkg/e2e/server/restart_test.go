// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	restarts = 5
	// askersOfAKind is the number of users who continuously send requests, through the aggregation layer and directly each.
	askersOfAKind = 4
	// answersBetweenRestarts is the number of requests that must succeed before the next restart.
	answersBetweenRestarts = 20
	// askPeriod is the time between two requests of a user. It leaves the server CPU time for its start.
	askPeriod = 2 * time.Millisecond
)

// TestUsersAreNotRefusedDuringRestart repeatedly kills the server while users send allowed requests. Until the server has the CAs
// for client certificates, its responses have Retry-After. The test is not parallel, because all tests share the server.
func TestUsersAreNotRefusedDuringRestart(t *testing.T) {
	n := framework.NewNamespace(t)
	server, answers := serverURL(t, n.ControlPlane), &answers{counts: map[string]int{}}
	ctx, stop := context.WithCancel(n.Ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer stop()
	for range askersOfAKind {
		asking.Go(func() { askUntilDone(n, ctx, answers, "aggregated", n.ControlPlane.Config.Host, n.ControlPlane.Config) })
		asking.Go(func() { askUntilDone(n, ctx, answers, "direct", server, directConfig(n.ControlPlane)) })
	}
	for range restarts {
		enough := answers.count("aggregated 200") + answersBetweenRestarts
		enoughDirect := answers.count("direct 200") + answersBetweenRestarts
		n.Eventually("users are answered", func() error {
			if answers.count("aggregated 200") < enough || answers.count("direct 200") < enoughDirect {
				return fmt.Errorf("the responses so far: %v", answers)
			}
			return nil
		})
		killed := n.ControlPlane.ServerPID(t)
		n.ControlPlane.SignalServer(t, syscall.SIGKILL)
		n.AwaitServerRestart(killed)
	}
	stop()
	asking.Wait()
	t.Logf("answers: %v", answers)
	if answers.count("direct 503") == 0 {
		t.Error("no client sent a request between the start of the server and its readiness")
	}
	for _, wrong := range answers.wrong {
		t.Error(wrong)
	}
}

// answers counts the responses to users, by the kind of connection.
type answers struct {
	mu     sync.Mutex
	counts map[string]int
	wrong  []string
}

func (a *answers) count(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[what]
}

func (a *answers) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprint(a.counts)
}

func (a *answers) add(what string, wrong string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[what]++
	if wrong != "" && len(a.wrong) < 10 {
		a.wrong = append(a.wrong, what+": "+wrong)
	}
}

// askUntilDone lists boxes until ctx is done. Each request has a new connection, because a reused connection would end with the
// server.
func askUntilDone(n *framework.Namespace, ctx context.Context, answers *answers, how, host string, config *rest.Config) {
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		n.T.Error(err)
		return
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}}
	url := host + "/apis/model.github.com/v1/namespaces/" + n.Name + "/modelboxes"
	for ; ctx.Err() == nil; time.Sleep(askPeriod) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			n.T.Error(err)
			return
		}
		response, err := client.Do(request)
		if err != nil {
			answers.add(how+" not", "")
			continue
		}
		body, _ := io.ReadAll(response.Body) // an incomplete response is not a valid list
		response.Body.Close()
		answers.add(fmt.Sprintf("%s %d", how, response.StatusCode), wrongAnswer(how, response, string(body)))
	}
}

// wrongAnswer returns why a response to an allowed request is wrong, empty if it is not.
func wrongAnswer(how string, response *http.Response, body string) string {
	switch {
	case response.StatusCode/100 == 4 && response.StatusCode != http.StatusTooManyRequests:
		return body
	case how == "direct" && response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "":
		return "there is no Retry-After: " + body
	default:
		return ""
	}
}

// serverURL returns the URL of the server, without the aggregation layer.
func serverURL(t *testing.T, p *framework.ControlPlane) string {
	t.Helper()
	for _, argument := range framework.CommandLine(t, p.ServerPID(t)) {
		if port, isPort := strings.CutPrefix(argument, "--secure-port="); isPort {
			return "https://127.0.0.1:" + port
		}
	}
	t.Fatal("the server has no port")
	return ""
}

// directConfig returns the configuration of clients of the administrator for a direct connection to the server, whose certificate
// the cluster has signed.
func directConfig(p *framework.ControlPlane) *rest.Config {
	config := rest.CopyConfig(p.Config)
	config.CAData, config.CAFile = nil, filepath.Join(p.Dir, "modelbox", "ca.crt")
	return config
}
