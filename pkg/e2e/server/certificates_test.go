// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	certificateSecret = "modelbox-apiserver-certificate"
	certificateHost   = "modelbox-apiserver.modelbox-system.svc"

	// certificateLifetime and caLifetime are so short that a CA is issued, trusted, used and removed within 90 seconds.
	certificateLifetime = time.Minute
	caLifetime          = 90 * time.Second
	rotationTimeout     = 2 * caLifetime
	handshakePeriod     = 100 * time.Millisecond
	requestPeriod       = 100 * time.Millisecond
)

// TestCertificatesAreRotatedWithoutAFailedRequest runs two servers that issue their certificates, with a lifetime of a minute. It
// restarts both servers while users continuously read and write.
func TestCertificatesAreRotatedWithoutAFailedRequest(t *testing.T) {
	p := framework.NewControlPlane(t, framework.ServerFlags(framework.ExternalEtcd...)...)
	n := p.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	given := p.ReadAPIService(t).Spec.CABundle

	service := framework.NewBalancer(t)
	var servers []*framework.Replica
	for _, name := range []string{"one", "two"} {
		servers = append(servers, framework.NewReplica(t, p, name, "",
			"--tls-cert-file=", "--tls-private-key-file=", "--serving-certificate=issue",
			"--serving-certificate-lifetime="+certificateLifetime.String(), "--serving-certificate-ca-lifetime="+caLifetime.String(),
			"--shutdown-delay-duration=2s", "--disable-http2-serving"))
	}
	for _, server := range servers {
		server.Start(t)
	}
	for _, server := range servers {
		server.AwaitReady(t)
		service.Add(server)
	}
	framework.LeadTo(t, p, service, servers)
	n.Eventually("the cluster reaches the servers by the CA that they issued", func() error {
		if bytes.Equal(p.ReadAPIService(t).Spec.CABundle, given) {
			return fmt.Errorf("the caBundle has not changed")
		}
		_, err := n.Boxes.Get(n.Ctx, "web", metav1.GetOptions{})
		return err
	})

	if !t.Run("no request fails", func(t *testing.T) { rotateUnderLoad(n.In(t), service, servers) }) {
		return
	}
	t.Run("a caBundle that a user edits is written again", func(t *testing.T) { editCABundle(n.In(t)) })
	t.Run("a Secret that a user deletes is issued again", func(t *testing.T) { deleteCertificates(n.In(t), servers) })
}

// rotateUnderLoad restarts the servers one after the other, and waits until the current CA is no longer trusted.
func rotateUnderLoad(n *framework.Namespace, service *framework.Balancer, servers []*framework.Replica) {
	first := n.ControlPlane.ReadAPIService(n.T).Spec.CABundle
	ctx, stop := context.WithCancel(n.Ctx)
	answers, seen := &answers{counts: map[string]int{}}, &seenCertificates{leaves: map[string]bool{}, bundles: map[string]bool{}}
	var running sync.WaitGroup
	for range askersOfAKind {
		running.Go(func() { sendUntilDone(n, ctx, answers, http.MethodGet) })
		running.Go(func() { sendUntilDone(n, ctx, answers, http.MethodPatch) })
	}
	running.Go(func() { seen.watch(n, ctx, servers) })
	defer running.Wait()
	defer stop()

	for _, server := range servers {
		service.Remove(server)
		server.Restart(n.T)
		service.Add(server)
	}
	framework.Eventually(n.T, rotationTimeout, "the first CA is no longer trusted", func() error {
		if bundle := n.ControlPlane.ReadAPIService(n.T).Spec.CABundle; bytes.Contains(bundle, first) {
			return fmt.Errorf("the CA is one of %d trusted CAs", bytes.Count(bundle, []byte("BEGIN")))
		}
		return nil
	})
	stop()
	running.Wait()

	n.T.Logf("answers: %v; %d handshakes, %d certificates, %d bundles", answers, seen.handshakes, len(seen.leaves), len(seen.bundles))
	for _, wrong := range answers.wrong {
		n.T.Error(wrong)
	}
	for _, refused := range seen.refused {
		n.T.Error(refused)
	}
	if len(seen.leaves) < 3 || len(seen.bundles) < 2 {
		n.T.Errorf("saw %d certificates and %d bundles before the last one, want 3 certificates, a bundle of one CA, and a bundle of that CA and the next one", len(seen.leaves), len(seen.bundles))
	}
}

// sendUntilDone reads the box, or changes an annotation of it, until ctx is done. Like all Kubernetes clients, it retries a request
// if the response has Retry-After, as the responses of a server that shuts down have. It counts the responses, and records the
// failures.
func sendUntilDone(n *framework.Namespace, ctx context.Context, answers *answers, verb string) {
	client := n.ControlPlane.KubeClient.Discovery().RESTClient()
	for ; ctx.Err() == nil; time.Sleep(requestPeriod) {
		request := client.Verb(verb).AbsPath("/apis/model.github.com/v1/namespaces", n.Name, "modelboxes", "web")
		if verb == http.MethodPatch {
			request = request.SetHeader("Content-Type", string(types.MergePatchType)).
				Body(fmt.Appendf(nil, `{"metadata":{"annotations":{"changed":"%d"}}}`, time.Now().UnixNano()))
		}
		err := request.Do(ctx).Error()
		switch {
		case ctx.Err() != nil: // the test has canceled the request
		case err != nil:
			answers.add(verb+" failed", fmt.Sprintf("%s %v", time.Now().Format(time.TimeOnly), err))
		default:
			answers.add(verb+" succeeded", "")
		}
	}
}

// seenCertificates has the certificates of the servers, and the bundles of trusted CAs of the cluster.
type seenCertificates struct {
	handshakes      int
	leaves, bundles map[string]bool
	refused         []string
}

// watch repeatedly connects to each server like the cluster, with the CAs that the cluster trusted just before.
func (s *seenCertificates) watch(n *framework.Namespace, ctx context.Context, servers []*framework.Replica) {
	for ; ctx.Err() == nil; time.Sleep(handshakePeriod) {
		bundle := n.ControlPlane.ReadAPIService(n.T).Spec.CABundle
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle)
		s.bundles[string(bundle)] = true
		for _, server := range servers {
			dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: certificateHost}}
			connection, err := dialer.DialContext(ctx, "tcp", server.Address())
			if err != nil {
				if strings.Contains(err.Error(), "x509") {
					s.refused = append(s.refused, fmt.Sprintf("%s server %s: %v", time.Now().Format(time.TimeOnly), server.Name, err))
				}
				continue // it is being restarted
			}
			s.handshakes++
			s.leaves[connection.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()] = true
			connection.Close()
		}
	}
}

func editCABundle(n *framework.Namespace) {
	for _, patch := range []string{
		`{"spec":{"caBundle":"Z2FyYmFnZQ=="}}`,
		`{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}`,
	} {
		n.ControlPlane.PatchAPIService(n.T, patch)
		n.Eventually("the cluster verifies the servers again after "+patch, func() error {
			spec := n.ControlPlane.ReadAPIService(n.T).Spec
			if !bytes.Contains(spec.CABundle, []byte("BEGIN CERTIFICATE")) || spec.InsecureSkipTLSVerify {
				return fmt.Errorf("caBundle %.20q, insecureSkipTLSVerify %t", spec.CABundle, spec.InsecureSkipTLSVerify)
			}
			_, err := n.Boxes.Get(n.Ctx, "web", metav1.GetOptions{})
			return err
		})
	}
}

func deleteCertificates(n *framework.Namespace, servers []*framework.Replica) {
	former := n.ControlPlane.ReadAPIService(n.T).Spec.CABundle
	deleted := time.Now()
	if err := n.ControlPlane.KubeClient.CoreV1().Secrets(framework.ServerNamespace).Delete(n.Ctx, certificateSecret, metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.Eventually("the cluster trusts another CA, and reaches the servers", func() error {
		bundle := n.ControlPlane.ReadAPIService(n.T).Spec.CABundle
		if bytes.Contains(former, bundle) || bytes.Contains(bundle, former) {
			return fmt.Errorf("the former CA is trusted")
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle)
		for _, server := range servers {
			connection, err := tls.Dial("tcp", server.Address(), &tls.Config{RootCAs: roots, ServerName: certificateHost})
			if err != nil {
				return fmt.Errorf("server %s: %w", server.Name, err)
			}
			connection.Close()
		}
		_, err := n.Boxes.Get(n.Ctx, "web", metav1.GetOptions{})
		return err
	})
	n.T.Logf("everything is as it should be %s after the deletion", time.Since(deleted).Round(time.Millisecond))
	n.Eventually("an event reports it", func() error {
		events, err := n.ControlPlane.KubeClient.EventsV1().Events(framework.ServerNamespace).List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Regarding.Name == certificateSecret && strings.Contains(event.Note, "the Secret was deleted") {
				return nil
			}
		}
		return fmt.Errorf("none of %d", len(events.Items))
	})
}
