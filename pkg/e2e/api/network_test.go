// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	applymodelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/applyconfiguration/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

// networkManifest is the manifest of a Network.
func networkManifest(name, cidr, gateway string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: Network, metadata: {name: %s}, spec: {cidr: %q, gateway: %q}}", name, cidr, gateway)
}

func TestNetworksAreKeptByKubectl(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	networks := n.ControlPlane.ModelClient.ModelV1().Networks(n.Name)

	n.Kubectl.Run("apply", "--filename="+framework.Sample("network.yaml"))
	created, err := networks.Get(n.Ctx, "network-sample", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "spec", modelv1.NetworkSpec{CIDR: "192.168.0.0/16", Gateway: "192.168.0.1", Type: modelv1.NetworkTypeBridge}, created.Spec)
	framework.ExpectEqual(t, "generation", int64(1), created.Generation)

	table := strings.Split(strings.TrimSpace(n.Kubectl.Run("get", "mnet")), "\n")
	framework.ExpectEqual(t, "columns", []string{"NAME", "TYPE", "CIDR", "GATEWAY", "STATUS", "BOXES", "AGE"}, strings.Fields(table[0]))
	framework.ExpectEqual(t, "row", []string{"network-sample", "bridge", "192.168.0.0/16", "192.168.0.1"}, strings.Fields(table[1])[:4])

	n.Kubectl.Run("patch", "network/network-sample", "--type=strategic", `--patch={"spec": {"gateway": "192.168.0.2"}}`)
	n.Kubectl.Run("label", "networks.model.github.com/network-sample", "team=shop")
	patched, err := networks.Get(n.Ctx, "network-sample", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "spec", modelv1.NetworkSpec{CIDR: "192.168.0.0/16", Gateway: "192.168.0.2", Type: modelv1.NetworkTypeBridge}, patched.Spec)
	framework.ExpectEqual(t, "generation", int64(2), patched.Generation)

	n.Kubectl.Run("delete", "mnet", "network-sample")
	if _, err := networks.Get(n.Ctx, "network-sample", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after it was deleted: %v", err)
	}
}

func TestExplainDescribesNetworks(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	// The cluster fetches the schema some time after the server has started.
	n.Eventually("kubectl explains networks", func() error {
		run := framework.RunKubectl(n.Kubectl.Command("explain", "networks.spec"), "")
		if run.Err != nil {
			return errors.New(run.Stderr)
		}
		text := strings.Join(strings.Fields(run.Stdout), " ")
		if !framework.ContainsAll(text, []string{"KIND: Network", "cidr <string> -required-", "Example: 192.168.0.0/16", "gateway <string> -required-"}) {
			return fmt.Errorf("it says:\n%s", run.Stdout)
		}
		return nil
	})
}

func TestBadNetworksAreRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, row := range []struct{ name, cidr, gateway, want string }{
		{"host bits", "192.168.0.5/16", "192.168.0.1", `spec.cidr: Invalid value: "192.168.0.5/16": must not have bits set beyond the prefix length, should be "192.168.0.0/16"`},
		{"upper case", "2001:DB8::/64", "2001:db8::1", `spec.cidr: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")`},
		{"no cidr", "", "192.168.0.1", "spec.cidr: Required value"},
		{"no gateway", "192.168.0.0/16", "", "spec.gateway: Required value"},
		{"a gateway outside", "192.168.0.0/16", "10.0.0.1", `spec.gateway: Invalid value: "10.0.0.1": ` + validation.MustBeInsideCIDR("192.168.0.0/16")},
		{"a gateway of the other family", "192.168.0.0/16", "2001:db8::1", `spec.gateway: Invalid value: "2001:db8::1": ` + validation.MustHaveFamilyOfCIDR("192.168.0.0/16")},
		{"the first address", "192.168.0.0/16", "192.168.0.0", `spec.gateway: Invalid value: "192.168.0.0": ` + validation.MustNotBeFirstAddress("192.168.0.0/16")},
		{"the broadcast address", "192.168.0.0/16", "192.168.255.255", `spec.gateway: Invalid value: "192.168.255.255": ` + validation.MustNotBeBroadcast("192.168.0.0/16")},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, flags := range [][]string{{}, {"--server-side"}} {
				arguments := append([]string{"apply", "--filename=-"}, flags...)
				if got := n.In(t).Kubectl.RunFailing(networkManifest("lan", row.cidr, row.gateway), arguments...); !strings.Contains(got, row.want) {
					t.Errorf("kubectl %s says %q, want %q", strings.Join(arguments, " "), got, row.want)
				}
			}
		})
	}
	t.Run("another cidr", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.RunWithInput(networkManifest("lan", "192.168.0.0/16", "192.168.0.1"), "apply", "--filename=-")
		got := n.Kubectl.RunFailing("", "patch", "mnet/lan", "--type=merge", `--patch={"spec": {"cidr": "192.0.0.0/8"}}`)
		if want := `spec.cidr: Invalid value: "192.0.0.0/8": field is immutable`; !strings.Contains(got, want) {
			t.Errorf("kubectl says %q, want %q", got, want)
		}
	})
	t.Run("an unknown field", func(t *testing.T) {
		got := n.In(t).Kubectl.RunFailing(`{apiVersion: model.github.com/v1, kind: Network, metadata: {name: typo}, spec: {cdir: 10.0.0.0/8}}`, "create", "--filename=-")
		if want := `unknown field "spec.cdir"`; !strings.Contains(got, want) {
			t.Errorf("kubectl says %q, want %q", got, want)
		}
	})
}

func TestOverlappingNetworksAreWarnedOf(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	// If the cluster does not serve NetworkAttachmentDefinitions, kubectl cannot create a role for them.
	n.Kubectl.RunWithInput(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: creator}, rules: [
		{apiGroups: [model.github.com], resources: [networks], verbs: [create]},
		{apiGroups: [k8s.cni.cncf.io], resources: [network-attachment-definitions], verbs: [create]}]}`, "create", "--filename=-")
	n.Kubectl.Run("create", "rolebinding", "creator", "--role=creator", "--user=creator")
	n.Kubectl.AwaitAllowed("creator", "create networks.model.github.com")
	warnings := func(name, cidr, gateway string, flags ...string) string {
		t.Helper()
		run := framework.RunKubectl(n.Kubectl.Command(append([]string{"create", "--filename=-"}, flags...)...), networkManifest(name, cidr, gateway))
		if run.Err != nil {
			t.Fatalf("%v\n%s", run.Err, run.Stderr)
		}
		return run.Stderr
	}
	if got := warnings("lan", "192.168.0.0/16", "192.168.0.1"); got != "" {
		t.Errorf("the first one: %q", got)
	}
	// New objects are in the caches of the server after a moment.
	want := "Warning: spec.cidr: 192.168.7.0/24 overlaps 192.168.0.0/16 of Network lan\n"
	n.Eventually("the overlap is known", func() error {
		if got := warnings("part", "192.168.7.0/24", "192.168.7.1", "--dry-run=server"); got != want {
			return fmt.Errorf("kubectl says %q, want %q", got, want)
		}
		return nil
	})
	if got := warnings("part", "192.168.7.0/24", "192.168.7.1", "--as=creator"); got != "" {
		t.Errorf("a user who may not list networks learns of them: %q", got)
	}
	run := framework.RunKubectl(n.Kubectl.Command("patch", "mnet/part", "--type=merge", `--patch={"spec": {"gateway": "192.168.7.2"}}`), "")
	framework.ExpectEqual(t, "warnings of an update", want, run.Stderr)
}

func TestNetworksAreServedToClients(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	client := n.ControlPlane.ModelClient
	networks := client.ModelV1().Networks(n.Name)

	apply := func(gateway, manager string) (*modelv1.Network, error) {
		return networks.Apply(n.Ctx, applymodelv1.Network("lan", n.Name).
			WithSpec(applymodelv1.NetworkSpec().WithCIDR("2001:db8::/64").WithGateway(gateway)), metav1.ApplyOptions{FieldManager: manager})
	}
	if _, err := apply("2001:db8::1", "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("2001:db8::2", "two"); !apierrors.IsConflict(err) {
		t.Errorf("another manager takes the gateway over: %v", err)
	}
	applied, err := apply("2001:db8::2", "one")
	if err != nil {
		t.Fatal(err)
	}

	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace(n.Name))
	lister := factory.Model().V1().Networks().Lister()
	factory.StartWithContext(n.Ctx)
	factory.WaitForCacheSyncWithContext(n.Ctx)
	listed, err := lister.Networks(n.Name).List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) != 1 || listed[0].UID != applied.UID {
		t.Errorf("listed are %v, want %v", listed, applied)
	} else {
		framework.ExpectEqual(t, "spec as it is listed", applied.Spec, listed[0].Spec)
	}

	selected, err := networks.List(n.Ctx, metav1.ListOptions{FieldSelector: "metadata.name!=lan"})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "networks of another name", 0, len(selected.Items))
	if _, err := networks.List(n.Ctx, metav1.ListOptions{FieldSelector: "spec.cidr=2001:db8::/64"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a field selector of the spec: %v", err)
	}

	path := "/apis/model.github.com/v1/namespaces/" + n.Name + "/networks/lan"
	data, err := n.ControlPlane.KubeClient.Discovery().RESTClient().Get().AbsPath(path).
		SetHeader("Accept", runtime.ContentTypeProtobuf).DoRaw(n.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), "k8s\x00") {
		t.Errorf("protobuf was asked for, and this was answered: %q", data)
	}
}

func TestResourceQuotaCountsNetworks(t *testing.T) {
	t.Parallel()
	const count corev1.ResourceName = "count/networks.model.github.com"
	n := framework.NewNamespace(t)
	quotas := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name)
	if _, err := quotas.Create(n.Ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "networks"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{count: *resource.NewQuantity(1, resource.DecimalSI)}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("the cluster counts networks", func() error {
		quota, err := quotas.Get(n.Ctx, "networks", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if _, isCounted := quota.Status.Used[count]; !isCounted {
			return fmt.Errorf("the status is %+v", quota.Status)
		}
		return nil
	})
	n.Kubectl.RunWithInput(networkManifest("one", "10.1.0.0/16", "10.1.0.1"), "create", "--filename=-")
	got := n.Kubectl.RunFailing(networkManifest("two", "10.2.0.0/16", "10.2.0.1"), "create", "--filename=-")
	if want := "exceeded quota: networks, requested: " + string(count) + "=1, used: " + string(count) + "=1"; !strings.Contains(got, want) {
		t.Errorf("kubectl says %q, want %q", got, want)
	}
}

// TestClusterRolesCoverNetworks checks the permissions on Networks of users with only a ClusterRole of Kubernetes.
func TestClusterRolesCoverNetworks(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, role := range []string{"view", "edit"} {
		n.Kubectl.Run("create", "rolebinding", role, "--clusterrole="+role, "--user="+role)
		n.Kubectl.AwaitAllowed(role, "get networks.model.github.com")
	}
	for _, row := range []struct{ user, allowed string }{
		{"view", "get list watch"},
		{"edit", "get list watch create update patch delete deletecollection"},
		{"stranger", ""},
	} {
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"} {
			want := "no"
			if slices.Contains(strings.Fields(row.allowed), verb) {
				want = "yes"
			}
			run := framework.RunKubectl(n.Kubectl.Command("auth", "can-i", "--as="+row.user, verb, "networks.model.github.com"), "")
			if got := strings.TrimSpace(run.Stdout); got != want {
				t.Errorf("%s may %s: %q, want %q", row.user, verb, got, want)
			}
		}
	}
}

func TestDiscoveryListsNetworks(t *testing.T) {
	t.Parallel()
	resources, err := framework.SharedControlPlane().KubeClient.Discovery().ServerResourcesForGroupVersion(modelv1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	var got []metav1.APIResource
	for _, resource := range resources.APIResources {
		if strings.HasPrefix(resource.Name, "networks") {
			resource.StorageVersionHash = ""
			got = append(got, resource)
		}
	}
	framework.ExpectEqual(t, "resources", []metav1.APIResource{{
		Name: "networks", SingularName: "network", Namespaced: true, Kind: "Network",
		Verbs:      metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		ShortNames: []string{"mnet"},
	}, {
		Name: "networks/status", Namespaced: true, Kind: "Network", Verbs: metav1.Verbs{"get", "patch", "update"},
	}}, got)
}
