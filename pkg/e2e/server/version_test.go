// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestServerSaysWhatItIs(t *testing.T) {
	t.Parallel()
	server := framework.NewNamespace(t).ControlPlane.DirectClient(t)
	text, err := server.Get().AbsPath("/version").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var info apimachineryversion.Info
	if err := json.Unmarshal(text, &info); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(info.GitVersion, "v"+info.Major+"."+info.Minor+".") || info.GitCommit == "" {
		t.Errorf("/version is %s", text)
	}
	labels := map[string]string{"version": info.GitVersion, "commit": info.GitCommit}
	if got := framework.Sum(framework.Scrape(t, server), "modelbox_build_info", labels); got != 1 {
		t.Errorf("modelbox_build_info%v is %v", labels, got)
	}
}

// TestDebugPagesRequirePermission checks the pages with flags, paths and memory.
func TestDebugPagesRequirePermission(t *testing.T) {
	t.Parallel()
	p := framework.NewNamespace(t).ControlPlane
	service := p.ReadAPIService(t)
	config := rest.AnonymousClientConfig(p.Config)
	config.Host, config.TLSClientConfig = p.ServerHost(service), rest.TLSClientConfig{CAData: service.Spec.CABundle}
	anonymous, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	administrator := p.DirectClient(t)
	for path, want := range map[string]string{
		"/statusz": "Go version", "/flagz": "leader-elect", "/metrics": "modelbox_build_info", "/debug/pprof/symbol": "num_symbols",
	} {
		if got, err := administrator.Get().AbsPath(path).DoRaw(t.Context()); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s for an administrator: %v, or no %q in it", path, err, want)
		}
		if err := anonymous.Discovery().RESTClient().Get().AbsPath(path).Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
			t.Errorf("%s for another user: got %v, want Forbidden", path, err)
		}
	}
}
