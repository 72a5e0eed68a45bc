// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	ingressHost   = "web.example.com"
	ingressSecret = "web-tls"
	// proxiedUpdates is even, as updateTimes wants it.
	proxiedUpdates = 4
	ingressChanges = 6
)

// ingressLosesNoRequest checks that all requests for the host of a box through a real proxy succeed during changes of the box and
// its Ingress.
func ingressLosesNoRequest(n *framework.Namespace) {
	if !hasImage("localcluster-nginx-1.tar") {
		n.T.Skip("there is no image of a proxy")
	}
	class := n.Name // no other test has it
	createIngressClass(n, class)
	proxy := startProxy(n)
	controller := startIngressController(n, class, proxy)
	visitor := newProxyVisitor(n, proxy, createCertificate(n))

	n.CreateReadyBox(framework.NewBox("web", framework.WithImage(appImage), framework.WithReplicas(2), checkedOften,
		framework.WithIngress(class, ingressHost), withCertificate))
	for _, scheme := range []string{"http", "https"} {
		visitor.awaitAnswer(n, scheme+"://"+ingressHost+"/version", http.StatusOK)
	}
	n.AwaitBox("web", "has the address of the proxy", func(box *modelv1.ModelBox) error {
		if want := []string{controller.address}; !slices.Equal(want, box.Status.IngressAddresses) {
			return fmt.Errorf("it has %q, want %q", box.Status.IngressAddresses, want)
		}
		return nil
	})
	if table := n.Kubectl.Run("get", "modelbox", "web", "--output=wide"); !strings.Contains(table, ingressHost) {
		n.T.Errorf("the table lacks the host:\n%s", table)
	}

	for _, test := range []struct {
		name    string
		disturb func(n *framework.Namespace)
		answers []string
	}{
		{"rolling updates", updateTimes(proxiedUpdates), []string{"1", "2"}},
		{"changes of a host", visitor.changeHost, []string{"1"}},
		{"changes of the path", func(n *framework.Namespace) { visitor.changePath(n, controller) }, []string{"1"}},
	} {
		n.T.Run(test.name, func(t *testing.T) {
			n := n.In(t)
			reloads := controller.reloads.Load()
			traffic := startTraffic(t, visitor.transport, "http://"+ingressHost+"/version", "https://"+ingressHost+"/version")
			test.disturb(n)
			// A pod can lose requests as long as it exists.
			awaitSettledPods(n, "web", 2)
			traffic.expectNoneLost(n, test.answers...)
			t.Logf("the proxy loaded its configuration %d times", controller.reloads.Load()-reloads)
		})
	}

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Ingress = nil })
	visitor.awaitAnswer(n, "http://"+ingressHost+"/version", http.StatusNotFound)
	n.T.Run("a Service that a user annotates", func(t *testing.T) { visitor.followAnnotations(n.In(t), class) })
}

// followAnnotations checks that a manually annotated Service is reachable while it has the annotation.
func (v *proxyVisitor) followAnnotations(n *framework.Namespace, class string) {
	if err := n.ControlPlane.CheckServiceIngress(n.T); err != nil {
		n.T.Skip("the server does not run the controller serviceingress: ", err)
	}
	url := "http://" + ingressHost + "/version"
	for _, change := range []struct {
		annotations []string
		status      int
	}{
		{[]string{"ingress/http=true", "ingress/host=" + ingressHost, "ingress/class=" + class}, http.StatusOK},
		{[]string{"ingress/http-"}, http.StatusNotFound},
	} {
		n.Kubectl.Run(append([]string{"annotate", "service", "web"}, change.annotations...)...)
		begin := time.Now()
		v.awaitAnswer(n, url, change.status)
		n.T.Logf("%s after %s", http.StatusText(change.status), time.Since(begin).Round(time.Millisecond))
	}
}

func createIngressClass(n *framework.Namespace, name string) {
	n.T.Helper()
	classes := n.ControlPlane.KubeClient.NetworkingV1().IngressClasses()
	class := &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       networkingv1.IngressClassSpec{Controller: "example.com/test"},
	}
	if _, err := classes.Create(n.Ctx, class, metav1.CreateOptions{}); err != nil {
		n.T.Fatalf("creating an IngressClass: %v", err)
	}
	n.T.Cleanup(func() { _ = classes.Delete(context.WithoutCancel(n.Ctx), name, metav1.DeleteOptions{}) })
}

// createCertificate creates the Secret of the Ingress of the box, and returns the CA of its certificate.
func createCertificate(n *framework.Namespace) *x509.CertPool {
	n.T.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(ingressHost, nil, nil)
	if err != nil {
		n.T.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: ingressSecret},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
	if _, err := n.ControlPlane.KubeClient.CoreV1().Secrets(n.Name).Create(n.Ctx, secret, metav1.CreateOptions{}); err != nil {
		n.T.Fatalf("creating the Secret of a certificate: %v", err)
	}
	chain, err := cert.ParseCertsPEM(certificate)
	if err != nil {
		n.T.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(chain[len(chain)-1])
	return authorities
}

func withCertificate(spec *modelv1.ModelBoxSpec) {
	spec.Ingress.TLS = &modelv1.ModelBoxIngressTLS{SecretName: ingressSecret}
}

// proxyVisitor sends all requests to the proxy, as if DNS had its address for all hosts.
type proxyVisitor struct{ transport *http.Transport }

// newProxyVisitor returns a proxyVisitor that only trusts certificates of these authorities.
func newProxyVisitor(n *framework.Namespace, proxy string, authorities *x509.CertPool) *proxyVisitor {
	n.T.Helper()
	addresses := map[string]string{}
	for _, port := range []int32{80, 443} {
		addresses[fmt.Sprint(port)] = nodePortAddress(n, proxy, port)
	}
	dialer := &net.Dialer{Timeout: answerTimeout}
	return &proxyVisitor{&http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return dialer.DialContext(ctx, network, addresses[port])
		},
		TLSClientConfig: &tls.Config{RootCAs: authorities},
	}}
}

// awaitAnswer waits for a response with the status.
func (v *proxyVisitor) awaitAnswer(n *framework.Namespace, url string, status int) {
	n.T.Helper()
	transport := v.transport.Clone()
	transport.DisableKeepAlives = true
	client := &http.Client{Transport: transport, Timeout: answerTimeout}
	n.Eventually(fmt.Sprintf("%s answers %d", url, status), func() error {
		response, err := client.Get(url)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != status {
			return fmt.Errorf("it answers %d", response.StatusCode)
		}
		return nil
	})
}

// changeHost repeatedly changes one of two hosts: the new host then responds, and the old one does not.
func (v *proxyVisitor) changeHost(n *framework.Namespace) {
	hostOf := func(change int) string { return fmt.Sprintf("web-%d.example.com", change) }
	for change := range ingressChanges {
		n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Ingress.Hosts = []string{ingressHost, hostOf(change)} })
		v.awaitAnswer(n, "http://"+hostOf(change)+"/version", http.StatusOK)
		if change > 0 {
			v.awaitAnswer(n, "http://"+hostOf(change-1)+"/version", http.StatusNotFound)
		}
	}
}

// changePath changes the path to and fro between two that both lead to the version of the application, and one of them to
// everything else of it as well.
func (v *proxyVisitor) changePath(n *framework.Namespace, controller *ingressController) {
	for change := range ingressChanges {
		path, status := "/version", http.StatusNotFound
		if change%2 == 1 {
			path, status = "/", http.StatusOK
		}
		reloads := controller.reloads.Load()
		n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Ingress.Path = path })
		// For a moment the proxy answers by its former configuration too, which may be as the next one.
		n.Eventually("the path "+path+" is loaded", func() error {
			if controller.reloads.Load() == reloads {
				return errors.New("it is not")
			}
			return nil
		})
		v.awaitAnswer(n, "http://"+ingressHost+"/ready", status)
	}
}
