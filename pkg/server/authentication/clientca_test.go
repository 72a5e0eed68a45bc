// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package authentication

import (
	"context"
	"crypto/x509"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/fake"
)

// lateCA is a CA that is read from the cluster some time after the server started to.
type lateCA struct {
	content atomic.Value
	ran     atomic.Bool
}

func (*lateCA) Name() string                              { return "late" }
func (*lateCA) AddListener(dynamiccertificates.Listener)  {}
func (*lateCA) VerifyOptions() (x509.VerifyOptions, bool) { return x509.VerifyOptions{}, false }
func (c *lateCA) RunOnce(context.Context) error           { return nil }
func (c *lateCA) Run(context.Context, int)                { c.ran.Store(true) }
func (c *lateCA) CurrentCABundleContent() []byte {
	content, _ := c.content.Load().(string)
	return []byte(content)
}

func TestClientCAsAreNamedOnceAllAreRead(t *testing.T) {
	for _, row := range []struct {
		name      string
		published map[string]string
		keys      []string
		// read are the CAs that the server has read, in this order.
		read []string
		// ready is after how many of them the server is ready.
		ready int
	}{
		{"both from the cluster", map[string]string{clientCAKey: "users\n", requestHeaderCAKey: "front proxy\n"}, []string{clientCAKey, requestHeaderCAKey}, []string{"users", "front proxy"}, 2},
		{"a cluster whose users have no certificates", map[string]string{requestHeaderCAKey: "front proxy\n"}, []string{clientCAKey, requestHeaderCAKey}, []string{"front proxy"}, 1},
		{"a cluster that changes a CA meanwhile", map[string]string{requestHeaderCAKey: "new\n"}, []string{requestHeaderCAKey}, []string{"old", "new"}, 2},
		{"one of them from a file", map[string]string{clientCAKey: "not looked up\n", requestHeaderCAKey: "front proxy\n"}, []string{requestHeaderCAKey}, []string{"of the file", "front proxy"}, 2},
		{"both from files", nil, nil, []string{"of the file"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			late := &lateCA{}
			ca := &clientCA{CAContentProvider: late, keys: row.keys, client: fake.NewClientset(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: authenticationConfigMap},
				Data:       row.published,
			})}
			for count := 0; count <= len(row.read); count++ {
				late.content.Store(strings.Join(row.read[:count], "\n"))
				err := ca.check(httptest.NewRequest("GET", "/readyz", nil))
				named := string(ca.CurrentCABundleContent())
				if count < row.ready && (err == nil || named != "") {
					t.Errorf("when %q are read: it is ready (%v) and names %q", row.read[:count], err, named)
				}
				if count >= row.ready && (err != nil || named != late.content.Load()) {
					t.Errorf("when %q are read: it is not ready (%v) or names %q", row.read[:count], err, named)
				}
			}
		})
	}
}

// What was read once is enough: a cluster that cannot be asked later, or that changes its CAs, makes no server unready.
func TestClientCAsAreAwaitedOnce(t *testing.T) {
	late := &lateCA{}
	late.content.Store("users")
	cluster := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: authenticationConfigMap},
		Data:       map[string]string{clientCAKey: "users"},
	})
	ca := &clientCA{CAContentProvider: late, keys: []string{clientCAKey}, client: cluster}
	request := httptest.NewRequest("GET", "/readyz", nil)
	if err := ca.check(request); err != nil {
		t.Fatal(err)
	}
	cluster.ClearActions()
	late.content.Store("other users")
	if err := ca.check(request); err != nil {
		t.Error(err)
	}
	if got := string(ca.CurrentCABundleContent()); got != "other users" {
		t.Errorf("it names %q", got)
	}
	if actions := cluster.Actions(); len(actions) > 0 {
		t.Errorf("the cluster is asked again: %v", actions)
	}
}

func TestAClusterThatCannotBeAskedPublishesNoLess(t *testing.T) {
	late := &lateCA{}
	late.content.Store("users")
	ca := &clientCA{CAContentProvider: late, keys: []string{clientCAKey}, client: fake.NewClientset()}
	if err := ca.check(httptest.NewRequest("GET", "/readyz", nil)); err == nil {
		t.Error("it is ready")
	}
}

func TestClientCAsAreStillRead(t *testing.T) {
	late := &lateCA{}
	ca := &clientCA{CAContentProvider: late}
	if err := ca.RunOnce(t.Context()); err != nil {
		t.Error(err)
	}
	ca.Run(t.Context(), 1)
	if !late.ran.Load() {
		t.Error("the CA is not read from the cluster")
	}
}

func TestWhichClientCAsAreLookedUp(t *testing.T) {
	header := &authenticatorfactory.RequestHeaderConfig{}
	for _, row := range []struct {
		name          string
		flags         []string
		requestHeader *authenticatorfactory.RequestHeaderConfig
		want          []string
	}{
		{"all", nil, header, []string{clientCAKey, requestHeaderCAKey}},
		{"none", []string{"--authentication-skip-lookup"}, header, nil},
		{"not the one that a flag gives", []string{"--client-ca-file=ca.crt"}, header, []string{requestHeaderCAKey}},
		{"not the front proxy's that a flag gives", []string{"--requestheader-client-ca-file=ca.crt"}, header, []string{clientCAKey}},
		{"not the front proxy's where the lookup failed and may", []string{"--authentication-tolerate-lookup-failure"}, nil, []string{clientCAKey}},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, flags := genericoptions.NewDelegatingAuthenticationOptions(), pflag.NewFlagSet("test", pflag.ContinueOnError)
			o.AddFlags(flags)
			if err := flags.Parse(row.flags); err != nil {
				t.Fatal(err)
			}
			got := lookedUpKeys(o, &genericapiserver.AuthenticationInfo{RequestHeaderConfig: row.requestHeader})
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
