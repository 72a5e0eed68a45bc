// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	baseversion "k8s.io/component-base/version"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// parse returns the options that a command line says.
func parse(t *testing.T, args ...string) *Options {
	t.Helper()
	registry := basecompatibility.NewComponentGlobalsRegistry()
	// Flags end what can be added to the process's own feature gate, so each command line gets another one.
	kube := basecompatibility.NewEffectiveVersionFromString(baseversion.DefaultKubeBinaryVersion, "", "")
	if err := registry.Register(basecompatibility.DefaultKubeComponent, kube, featuregate.NewVersionedFeatureGate(kube.BinaryVersion())); err != nil {
		t.Fatal(err)
	}
	o := NewForRegistry(registry)
	flags := pflag.NewFlagSet("modelbox-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestDefaultsAreValid(t *testing.T) {
	o := parse(t)
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if !o.Controllers.LeaderElection.LeaderElect {
		t.Error("controllers run without being elected")
	}
}

func TestTheShortestResyncPeriodIsValid(t *testing.T) {
	o := parse(t, "--modelbox-resync-period=1s")
	if err := errors.Join(o.Controllers.Validate()...); err != nil {
		t.Error(err)
	}
	if o.Controllers.ModelBox.ResyncPeriod != time.Second {
		t.Errorf("the period is %s", o.Controllers.ModelBox.ResyncPeriod)
	}
}

func TestControllerFlagsBecomeTheirConfiguration(t *testing.T) {
	o := parse(t, "--controllers=*,-modelbox", "--concurrent-modelbox-syncs=5", "--modelbox-resync-period=1m",
		"--reference-restart-rate=0.5", "--watch-referenced-secrets", "--leader-elect-resource-namespace=boxes",
		"--service-ingress-class=public", "--service-ingress-host-pattern={name}.example.com")
	want := controller.Configuration{
		Controllers:        []string{"*", "-modelbox"},
		ModelBoxController: controller.ModelBoxControllerConfiguration{ConcurrentSyncs: 5, ResyncPeriod: time.Minute},
		ReferencesController: controller.ReferencesControllerConfiguration{
			RestartRate: 0.5, WatchesSecrets: true, KeySecret: types.NamespacedName{Namespace: "boxes", Name: "modelbox-apiserver-reference-key"},
		},
		ServiceIngressController: controller.ServiceIngressControllerConfiguration{
			Defaults: serviceingressrender.Defaults{Class: "public", HostPattern: "{name}.example.com"},
		},
	}
	if diff := cmp.Diff(want, o.Controllers.Configuration()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestControllerFlagsAreGrouped(t *testing.T) {
	flags := parse(t).Flags()
	for group, names := range map[string][]string{
		"controllers":               {"controllers", "leader-elect"},
		"modelbox controller":       {"concurrent-modelbox-syncs", "modelbox-resync-period"},
		"references controller":     {"reference-restart-rate", "watch-referenced-secrets"},
		"serviceingress controller": {"service-ingress-class", "service-ingress-host-pattern"},
	} {
		for _, name := range names {
			if flags.FlagSet(group).Lookup(name) == nil {
				t.Errorf("--%s is not in group %q", name, group)
			}
		}
	}
}

func TestHelpOfControllersListsThem(t *testing.T) {
	flags := parse(t).Flags()
	help := flags.FlagSet("controllers").Lookup("controllers").Usage
	for _, want := range []string{
		"All controllers: " + strings.Join(controller.KnownControllers(), ", "),
		"Disabled-by-default controllers: serviceingress",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("got %q, want %q in it", help, want)
		}
	}
}

func TestLogsAreTextOrJSON(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		o := parse(t, "--logging-format="+format)
		if errs := logsapi.Validate(o.Logs, nil, field.NewPath("logging")); len(errs) > 0 {
			t.Errorf("%s: %v", format, errs.ToAggregate())
		}
	}
}

func TestWhereObjectsAreKept(t *testing.T) {
	for _, row := range []struct {
		name    string
		args    []string
		dataDir string
		servers []string
	}{
		{"nothing is said", nil, "/var/lib/modelbox", []string{"unix:///var/lib/modelbox/client.sock"}},
		{"a data directory", []string{"--data-dir=/data"}, "/data", []string{"unix:///data/client.sock"}},
		{"an outside etcd", []string{"--etcd-servers=https://one:2379,https://two:2379"}, "", []string{"https://one:2379", "https://two:2379"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := parse(t, row.args...)
			if err := o.Complete(); err != nil {
				t.Fatal(err)
			}
			if err := o.Validate(); err != nil {
				t.Error(err)
			}
			if o.Storage.DataDir != row.dataDir {
				t.Errorf("data directory: got %q, want %q", o.Storage.DataDir, row.dataDir)
			}
			if diff := cmp.Diff(row.servers, o.Recommended.Etcd.StorageConfig.Transport.ServerList); diff != "" {
				t.Errorf("servers, -want +got:\n%s", diff)
			}
		})
	}
}

// A server with another prefix does not find the stored objects.
func TestEtcdPathPrefixByDefault(t *testing.T) {
	if got := parse(t).Recommended.Etcd.StorageConfig.Prefix; got != "/registry" {
		t.Errorf("the prefix is %s", got)
	}
}

func TestServiceNodePortRange(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing is said", nil, "30000-32767"},
		{"a range of the cluster's own", []string{"--service-node-port-range=20000-20999"}, "20000-20999"},
		{"one that is not known", []string{"--service-node-port-range="}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := parse(t, row.args...)
			if got := o.NodePorts.Range.String(); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestWhereTheServingCertificateComesFrom(t *testing.T) {
	for _, row := range []struct {
		name, want string
		args       []string
	}{
		{"nothing is said", "issue", nil},
		{"files are given", "files", []string{"--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key"}},
		{"files are asked for", "files", []string{"--serving-certificate=files", "--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key"}},
		{"files are taken back", "issue", []string{"--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key", "--tls-cert-file=", "--tls-private-key-file="}},
		{"no client verifies it", "self-signed", []string{"--serving-certificate=self-signed"}},
		{"it is issued for other hosts", "issue", []string{"--serving-certificate=issue", "--serving-certificate-hosts=server.system.svc,::1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := parse(t, row.args...)
			if err := o.Complete(); err != nil {
				t.Fatal(err)
			}
			if err := o.Validate(); err != nil {
				t.Error(err)
			}
			if o.ServingCertificate.Mode != row.want {
				t.Errorf("got %q, want %q", o.ServingCertificate.Mode, row.want)
			}
		})
	}
}

// The manifests give no flags that would say it.
func TestDefaultsOfTheServingCertificateFitTheManifests(t *testing.T) {
	apiService, rbac := manifest(t, "apiservice.yaml"), manifest(t, "rbac.yaml")
	o := parse(t).ServingCertificate
	namespace, name, _ := strings.Cut(o.Secret, "/")
	for what, has := range map[string]bool{
		"host of the Service":       strings.Contains(apiService, "name: "+strings.Split(o.Hosts[0], ".")[0]+"\n"),
		"namespace of the Service":  strings.Contains(apiService, "namespace: "+strings.Split(o.Hosts[0], ".")[1]+"\n"),
		"namespace of the Secret":   strings.Contains(rbac, "namespace: "+namespace+"\n"),
		"right to write the Secret": strings.Contains(rbac, "resourceNames: ["+name+"]"),
	} {
		if !has {
			t.Errorf("%s: the manifests differ from %+v", what, o)
		}
	}
}

func manifest(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "artifacts", "base", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestRefusedOptions(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"two places for the objects", []string{"--data-dir=/data", "--etcd-servers=http://one:2379"}, "may not be specified together with --etcd-servers"},
		{"a data directory whose socket would have too long a path", []string{"--data-dir=/" + strings.Repeat("d", 100)}, "--data-dir: data directory /ddd"},
		{"no workers", []string{"--concurrent-modelbox-syncs=0"}, "--concurrent-modelbox-syncs is 0 and must be at least 1"},
		{"fewer than no workers", []string{"--concurrent-modelbox-syncs=-1"}, "--concurrent-modelbox-syncs is -1"},
		{"a controller that there is not", []string{"--controllers=*,-netwrok"}, `--controllers: "netwrok" is not in the list of known controllers: modelbox`},
		{"resyncs without a pause", []string{"--modelbox-resync-period=0s"}, "--modelbox-resync-period is 0s and must be at least 1s"},
		{"resyncs more often than informers do them", []string{"--modelbox-resync-period=999ms"}, "--modelbox-resync-period is 999ms and must be at least 1s"},
		{"another lock than a Lease", []string{"--leader-elect-resource-lock=configmaps"}, `--leader-elect-resource-lock is "configmaps" and must be "leases"`},
		{"a Lease without a name", []string{"--leader-elect-resource-name="}, "--leader-elect-resource-name and --leader-elect-resource-namespace must be given"},
		{"a Lease without a namespace", []string{"--leader-elect-resource-namespace="}, "--leader-elect-resource-name and --leader-elect-resource-namespace must be given"},
		{"a Lease that runs out at its renewal", []string{"--leader-elect-lease-duration=10s"}, "--leader-elect-lease-duration is 10s and must be longer than --leader-elect-renew-deadline, which is 10s"},
		{"a renewal that is not tried twice", []string{"--leader-elect-retry-period=10s"}, "--leader-elect-retry-period is 10s and must be"},
		{"renewals without a pause", []string{"--leader-elect-retry-period=0s"}, "--leader-elect-retry-period is 0s and must be positive"},
		{"a renewal that a delayed retry misses", []string{"--leader-elect-renew-deadline=11s", "--leader-elect-retry-period=10s"}, "--leader-elect-retry-period is 10s and must be positive, and 1.2 times it shorter"},
		{"a Lease of less than a second", []string{"--leader-elect-lease-duration=900ms", "--leader-elect-renew-deadline=500ms", "--leader-elect-retry-period=100ms"}, "--leader-elect-lease-duration is 900ms and must be at least 1s"},
		{"a class that can be none", []string{"--service-ingress-class=Public"}, `--service-ingress-class is "Public" and must be the name of an IngressClass: a lowercase RFC 1123 subdomain`},
		{"one host for all Services", []string{"--service-ingress-host-pattern={namespace}.example.com"}, `--service-ingress-host-pattern is "{namespace}.example.com" and must contain {name}`},
		{"a placeholder that there is not", []string{"--service-ingress-host-pattern={name}.{cluster}.example.com"}, `and must become a host as {name}.{namespace}.example.com does, and becomes "name.{cluster}.example.com": a lowercase RFC 1123 subdomain`},
		{"hosts with a port", []string{"--service-ingress-host-pattern={name}.example.com:443"}, `and becomes "name.example.com:443": a lowercase RFC 1123 subdomain`},
		{"a certificate from nowhere", []string{"--serving-certificate=acme"}, `--serving-certificate is "acme" and must be one of issue, files, self-signed`},
		{"a certificate that is issued and given", []string{"--serving-certificate=issue", "--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key"}, "--serving-certificate=issue may not be specified together with --tls-cert-file and --tls-private-key-file"},
		{"a certificate that is self-signed and given", []string{"--serving-certificate=self-signed", "--tls-cert-file=tls.crt"}, "--serving-certificate=self-signed may not be specified together with --tls-cert-file"},
		{"files that are not given", []string{"--serving-certificate=files"}, "--serving-certificate=files requires both --tls-cert-file and --tls-private-key-file"},
		{"a certificate without a key", []string{"--tls-cert-file=tls.crt"}, "--serving-certificate=files requires both --tls-cert-file and --tls-private-key-file"},
		{"a Secret without a namespace", []string{"--serving-certificate-secret=certificate"}, `--serving-certificate-secret is "certificate" and must be <namespace>/<name>`},
		{"a Secret that can be none", []string{"--serving-certificate-secret=system/a/b"}, `--serving-certificate-secret is "system/a/b" and must be <namespace>/<name>`},
		{"a certificate without a host", []string{"--serving-certificate-hosts="}, "--serving-certificate-hosts must have at least one host"},
		{"a host that is a URL", []string{"--serving-certificate-hosts=localhost,https://localhost"}, `--serving-certificate-hosts has "https://localhost"`},
		{"a certificate that expires at once", []string{"--serving-certificate-lifetime=59s"}, "--serving-certificate-lifetime is 59s and must be at least 1m0s"},
		{"a CA that expires before its certificates", []string{"--serving-certificate-ca-lifetime=24h"}, "--serving-certificate-ca-lifetime is 24h0m0s and must not be shorter than --serving-certificate-lifetime, which is 2160h0m0s"},
		{"a port that is none", []string{"--secure-port=70000"}, "--secure-port"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := parse(t, row.args...)
			err := o.Complete()
			if err == nil {
				err = o.Validate()
			}
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestEveryErrorIsReported(t *testing.T) {
	o := parse(t, "--concurrent-modelbox-syncs=0", "--leader-elect-resource-lock=configmaps", "--secure-port=70000")
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	err := o.Validate()
	for _, flag := range []string{"--concurrent-modelbox-syncs", "--leader-elect-resource-lock", "--secure-port"} {
		if err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s is missing in: %v", flag, err)
		}
	}
}

func TestLeaderElectionThatIsOffIsNotValidated(t *testing.T) {
	o := parse(t, "--leader-elect=false", "--leader-elect-retry-period=0s", "--leader-elect-resource-lock=configmaps")
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}
