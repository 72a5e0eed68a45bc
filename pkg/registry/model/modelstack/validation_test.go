// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
)

// briefly returns the errors without the values that are wrong.
func briefly(errs field.ErrorList) []string {
	var brief []string
	for _, err := range errs {
		brief = append(brief, fmt.Sprintf("%s: %s: %s", err.Field, err.Type, err.Detail))
	}
	return brief
}

const web = `{image: "nginx:1.7.9", ports: [{port: 80}]}`

func TestGoodStacks(t *testing.T) {
	for name, components := range map[string]string{
		"boxes, something outside and dependencies": components,
		"a box":                                "[{name: web, box: " + web + "}]",
		"a box without ports":                  `[{name: web, box: {image: "nginx:1.7.9"}}]`,
		"an address outside":                   "[{name: db, external: {host: 192.0.2.7, port: 3306}}]",
		"an IPv6 address outside":              `[{name: db, external: {host: "2001:db8::7", port: 3306}}]`,
		"a name of one label outside":          "[{name: db, external: {host: mysql, port: 3306}}]",
		"a diamond of dependencies":            "[{name: a, box: " + web + "}, {name: b, dependsOn: [a], box: " + web + "}, {name: c, dependsOn: [a], box: " + web + "}, {name: d, dependsOn: [b, c], box: " + web + "}]",
		"a dependency that comes later":        "[{name: a, dependsOn: [b], box: " + web + "}, {name: b, box: " + web + "}]",
		"names that differ in what is no '-'":  "[{name: my-sql, box: " + web + "}, {name: mysql, box: " + web + "}]",
		"an image that follows another's name": `[{name: a, boxName: x, box: {image: "a:1"}}, {name: b, boxName: x-headless, box: {image: "b:1", ports: [{port: 80}]}}]`,
		"a Service outside of the name of a candidate without a Service": `[{name: a, boxName: x, box: {image: "a:1", ports: [{port: 80}], rollout: {type: Canary, steps: [{weight: 50}]}}},
			{name: b, boxName: x-canary, external: {host: b.example.com, port: 443}}]`,
		"a name of which no candidate of a StatefulSet is": `[{name: a, boxName: x, box: {workload: StatefulSet, image: "a:1", rollout: {type: Canary, steps: [{weight: 50}]}}},
			{name: b, boxName: x-canary, box: {image: "b:1"}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if errs := newStrategy().Validate(t.Context(), newStack(t, components)); len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
		})
	}
}

func TestBadStacks(t *testing.T) {
	const (
		required   = "Required value"
		invalid    = "Invalid value"
		duplicate  = "Duplicate value"
		forbidden  = "Forbidden"
		notFound   = "Not found"
		tooMany    = "Too many"
		tooLong    = "Too long"
		unknown    = "Unsupported value"
		components = "spec.components"
	)
	box := func(spec string) string { return "[{name: web, box: " + spec + "}]" }
	external := func(spec string) string { return "[{name: db, external: " + spec + "}]" }
	// chain are components that depend on each other, the last one on the given one.
	chain := func(names string, last string) string {
		var all []string
		list := strings.Split(names, "")
		for i, name := range list {
			next := last
			if i+1 < len(list) {
				next = list[i+1]
			}
			all = append(all, fmt.Sprintf("{name: %s, dependsOn: [%s], box: %s}", name, next, web))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	many := func(count int, element func(i int) string) string {
		var all []string
		for i := range count {
			all = append(all, element(i))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	long := strings.Repeat("a", 61)
	for _, row := range []struct {
		name       string
		components string
		// want are the field, the type and a part of the detail of the errors.
		want [][3]string
	}{
		{"no components", "[]", [][3]string{{components, required, ""}}},
		{"too many components", many(501, func(i int) string { return fmt.Sprintf("{name: c%d, box: %s}", i, web) }),
			[][3]string{{components, tooMany, "at most 500"}}},
		{"a component without a name", "[{box: " + web + "}]", [][3]string{{components + "[0].name", required, ""}, {components + "[0].boxName", invalid, "DNS-1035"}}},
		{"a name with a capital", "[{name: Web, boxName: web, box: " + web + "}]", [][3]string{{components + "[0].name", invalid, "DNS-1035"}}},
		{"a name that begins with a digit", "[{name: 1web, box: " + web + "}]", [][3]string{{components + "[0].name", invalid, "DNS-1035"}}},
		{"a name with '_', which equals '-' in a variable", "[{name: my_sql, boxName: web, box: " + web + "}]", [][3]string{{components + "[0].name", invalid, "DNS-1035"}}},
		{"a name that is too long with the name of the stack", "[{name: " + long + ", box: " + web + "}]", [][3]string{{components + "[0].boxName", invalid, "no more than 63"}}},
		{"a name of a box that is none", "[{name: web, boxName: web.1, box: " + web + "}]", [][3]string{{components + "[0].boxName", invalid, "DNS-1035"}}},
		{"a name that is too long for a StatefulSet", "[{name: web, boxName: " + long + `, box: {workload: StatefulSet, image: "a:1"}}]`,
			[][3]string{{components + "[0].boxName", invalid, "no more than 52"}}},
		{"two components of one name", "[{name: web, box: " + web + "}, {name: web, boxName: other, box: " + web + "}]",
			[][3]string{{components + "[1]", duplicate, ""}}},
		{"two boxes of one name", "[{name: a, boxName: web, box: " + web + "}, {name: b, boxName: web, box: " + web + "}]",
			[][3]string{{components + "[1].boxName", duplicate, components + "[0].boxName has it already"}}},
		{"a box and a default of one name", "[{name: a, boxName: shop-b, box: " + web + "}, {name: b, box: " + web + "}]",
			[][3]string{{components + "[1].boxName", duplicate, "[0].boxName"}}},
		{"a box and a Service outside of one name", "[{name: a, boxName: b, box: " + web + "}, {name: b, external: {host: a.example, port: 1}}]",
			[][3]string{{components + "[1].boxName", duplicate, "[0].boxName"}}},
		{"a box of the name of a headless Service", `[{name: a, boxName: x, box: {workload: StatefulSet, image: "a:1", ports: [{port: 80}]}}, {name: b, boxName: x-headless, box: ` + web + "}]",
			[][3]string{{components + "[1].boxName", duplicate, "component a has a Service of this name"}}},
		{"a box of the name of a candidate", `[{name: a, boxName: x, box: {image: "a:1", ports: [{port: 80}], rollout: {type: BlueGreen}}}, {name: b, boxName: x-canary, box: ` + web + "}]",
			[][3]string{{components + "[1].boxName", duplicate, "component a has a Service of this name"}, {components + "[1].boxName", duplicate, "component a has a Deployment of this name"}}},
		{"a candidate of the name of a box", `[{name: b, boxName: x-canary, box: {image: "b:1"}}, {name: a, boxName: x, box: {image: "a:1", rollout: {type: Canary, steps: [{weight: 50}]}}}]`,
			[][3]string{{components + "[1].box.rollout.type", duplicate, "component b has a Deployment of this name"}}},
		{"two boxes with a ConfigMap of one name", `[{name: a, boxName: x, box: {image: "a:1", configs: [{name: files, mountPath: /c, data: {a: b}}]}}, {name: b, boxName: x-files, box: {image: "b:1", configs: [{mountPath: /c, data: {a: b}}]}}]`,
			[][3]string{{components + "[1].box.configs[0].name", duplicate, "component a has a ConfigMap of this name"}}},
		{"two boxes with a claim of one name", `[{name: a, boxName: x, box: {image: "a:1", storage: [{name: y-z, mountPath: /d, size: 1Gi}]}}, {name: b, boxName: x-y, box: {image: "b:1", storage: [{name: z, mountPath: /d, size: 1Gi}]}}]`,
			[][3]string{{components + "[1].box.storage[0].name", duplicate, "component a has a PersistentVolumeClaim of this name"}}},
		{"neither a box nor something outside", "[{name: web}]", [][3]string{{components + "[0]", required, "must have one of: box, external"}}},
		{"both a box and something outside", "[{name: web, box: " + web + ", external: {host: a.example, port: 1}}]",
			[][3]string{{components + "[0].external", forbidden, "only one may be given, and box is"}}},

		{"an unknown dependency", "[{name: web, dependsOn: [db], box: " + web + "}]", [][3]string{{components + "[0].dependsOn[0]", notFound, ""}}},
		{"a dependency by the name of its box", "[{name: db, boxName: mysql, box: " + web + "}, {name: web, dependsOn: [mysql], box: " + web + "}]",
			[][3]string{{components + "[1].dependsOn[0]", notFound, ""}}},
		{"a dependency twice", "[{name: db, box: " + web + "}, {name: web, dependsOn: [db, db], box: " + web + "}]",
			[][3]string{{components + "[1].dependsOn[1]", duplicate, ""}}},
		{"a component that depends on itself", "[{name: web, dependsOn: [web], box: " + web + "}]",
			[][3]string{{components + "[0].dependsOn[0]", invalid, "cannot depend on itself"}}},
		{"too many dependencies", "[{name: web, box: " + web + ", dependsOn: " + many(65, func(i int) string { return fmt.Sprintf("c%d", i) }) + "}]",
			[][3]string{{components + "[0].dependsOn", tooMany, "at most 64"}}},
		{"a dependency without ports", `[{name: db, box: {image: "a:1"}}, {name: web, dependsOn: [db], box: ` + web + "}]",
			[][3]string{{components + "[1].dependsOn[0]", invalid, validation.MustHavePortsToConnect}}},
		{"more variables than a container may have", "[{name: db, box: " + web + `}, {name: web, dependsOn: [db], box: {image: "a:1", envs: ` + many(1022, func(i int) string { return fmt.Sprintf("{name: V%d}", i) }) + "}}]",
			[][3]string{{components + "[1].dependsOn", invalid, "1025 environment variables"}}},
		{"two that wait for each other", chain("ab", "a"), [][3]string{{components + "[1].dependsOn[0]", invalid, "a → b → a"}}},
		{"three that wait for each other", chain("abc", "a"), [][3]string{{components + "[2].dependsOn[0]", invalid, "a → b → c → a"}}},
		{"a cycle that others lead to", chain("abcd", "c"), [][3]string{{components + "[3].dependsOn[0]", invalid, "c → d → c"}}},
		{"two cycles", strings.TrimSuffix(chain("ab", "a"), "]") + ", " + strings.TrimPrefix(chain("cd", "c"), "["),
			[][3]string{{components + "[1].dependsOn[0]", invalid, "a → b → a"}, {components + "[3].dependsOn[0]", invalid, "c → d → c"}}},

		{"nothing outside", external("{}"), [][3]string{{components + "[0].external.host", required, ""}, {components + "[0].external.port", required, ""}, {components + "[0].external.port", invalid, "between 1 and 65535"}}},
		{"a URL outside", external("{host: https://db.example.com, port: 443}"), [][3]string{{components + "[0].external.host", invalid, "RFC 1123"}}},
		{"a host outside with its port", external(`{host: "db.example.com:443", port: 443}`), [][3]string{{components + "[0].external.host", invalid, "RFC 1123"}}},
		{"an address that is not canonical", external(`{host: "2001:DB8::7", port: 443}`), [][3]string{{components + "[0].external.host", invalid, "canonical"}}},
		{"an address that is none", external("{host: 192.0.2.256, port: 443}"), [][3]string{{components + "[0].external.host", invalid, "an IP address or a DNS name"}}},
		{"a loopback address", external("{host: 127.0.0.1, port: 443}"), [][3]string{{components + "[0].external.host", invalid, "loopback"}}},
		{"the address of a node's metadata", external("{host: 169.254.169.254, port: 80}"), [][3]string{{components + "[0].external.host", invalid, "link-local"}}},
		{"a port outside that is none", external("{host: db.example.com, port: 70000}"), [][3]string{{components + "[0].external.port", invalid, "between 1 and 65535"}}},
		{"a Secret that is none", external("{host: db.example.com, port: 1, credentialsSecretName: Db}"), [][3]string{{components + "[0].external.credentialsSecretName", invalid, ""}}},

		{"a box without an image", box("{ports: [{port: 80}]}"), [][3]string{{components + "[0].box.image", required, ""}}},
		{"a port of a box that is none", box(`{image: "a:1", ports: [{port: 0}]}`), [][3]string{{components + "[0].box.ports[0].port", invalid, "between 1 and 65535"}}},
		{"a port of the last box that is none", strings.TrimSuffix(box(web), "]") + `, {name: b, box: {image: "b:1", ports: [{port: 80}, {port: 70000, targetPort: 1}]}}]`,
			[][3]string{{components + "[1].box.ports[1].port", invalid, "between 1 and 65535"}}},
		{"a node port out of the cluster's range", box(`{image: "a:1", ports: [{port: 80, nodePort: 80}]}`), [][3]string{{components + "[0].box.ports[0].nodePort", invalid, "30000-32767"}}},
		{"two ports of one number", box(`{image: "a:1", ports: [{port: 80}, {port: 80}]}`), [][3]string{{components + "[0].box.ports[1]", duplicate, ""}}},
		{"a workload that is none", box(`{image: "a:1", workload: Pod}`), [][3]string{{components + "[0].box.workload", unknown, ""}}},
		{"replicas of a DaemonSet", box(`{image: "a:1", workload: DaemonSet, replicas: 2}`), [][3]string{{components + "[0].box.replicas", forbidden, "DaemonSet"}}},
		{"replicas below 0", box(`{image: "a:1", replicas: -1}`), [][3]string{{components + "[0].box.replicas", invalid, ""}}},
		{"a rolling update that moves nothing", box(`{image: "a:1", rollingUpdate: 0}`), [][3]string{{components + "[0].box.rollingUpdate", invalid, ""}}},
		{"a class with resources", box(`{image: "a:1", resourceType: small, resources: {limits: {cpu: 1}}}`), [][3]string{{components + "[0].box.resources", forbidden, ""}}},
		{"a mount of no volume", box(`{image: "a:1", volumeMounts: [{name: data, mountPath: /data}]}`), [][3]string{{components + "[0].box.volumeMounts[0].name", notFound, ""}}},
		{"a container without an image", box(`{image: "a:1", containers: [{name: side}]}`), [][3]string{{components + "[0].box.containers[0].image", required, ""}}},
		{"a container of the name of the main one", box(`{image: "a:1", containers: [{name: shop-web, image: "b:1"}]}`), [][3]string{{components + "[0].box.containers[0].name", duplicate, ""}}},
		{"an overlay that changes the selector", box(`{image: "a:1", podTemplate: {metadata: {labels: {modelbox: other}}}}`), [][3]string{{components + "[0].box.podTemplate.metadata.labels[modelbox]", invalid, "shop-web"}}},
		{"an overlay of a mount of no volume", box(`{image: "a:1", podTemplate: {spec: {containers: [{name: shop-web, volumeMounts: [{name: data, mountPath: /data}]}]}}}`),
			[][3]string{{components + "[0].box.podTemplate.spec.containers[0].volumeMounts[0].name", notFound, ""}}},
		{"a box with too many containers", box(`{image: "a:1", containers: ` + many(101, func(i int) string { return fmt.Sprintf("{name: c%d, image: a}", i) }) + "}"),
			[][3]string{{components + "[0].box.containers", tooMany, "at most 100"}}},
		{"a box that does not fit its record", box(`{image: "a:1", args: [` + strings.Repeat("a", 100<<10) + "]}"), [][3]string{{components + "[0].box", tooLong, "98304"}}},
		{"boxes that fit, in a stack that does not", many(9, func(i int) string {
			return fmt.Sprintf("{name: c%d, box: {image: a, args: [%s]}}", i, strings.Repeat("a", 60<<10))
		}), [][3]string{{"spec", tooLong, "524288"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			errs := newStrategy().Validate(t.Context(), newStack(t, row.components))
			if len(errs) != len(row.want) {
				t.Fatalf("got %d errors, want %d: %q", len(errs), len(row.want), briefly(errs))
			}
			for i, want := range row.want {
				if err := errs[i]; err.Field != want[0] || err.Type.String() != want[1] || !strings.Contains(err.Detail, want[2]) {
					t.Errorf("got %q, want %q", briefly(errs)[i], want)
				}
			}
		})
	}
}

func TestStackNames(t *testing.T) {
	for name, want := range map[string]string{
		"shop":                  "",
		"1shop":                 "metadata.name",
		"Shop":                  "metadata.name",
		strings.Repeat("a", 64): "metadata.name",
	} {
		stack := newStack(t, components, func(stack *model.ModelStack) { stack.Name = name })
		errs := newStrategy().Validate(t.Context(), stack)
		if got := strings.Join(fieldsOf(errs), " "); got != want {
			t.Errorf("%s: got errors at %q, want %q", name, got, want)
		}
	}
}

func fieldsOf(errs field.ErrorList) []string {
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	return fields
}

func TestUpdates(t *testing.T) {
	const db = `{name: db, box: {workload: StatefulSet, image: "mysql:8.0", ports: [{port: 3306}]}}`
	for _, row := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"another image", "[{name: web, box: " + web + "}]", `[{name: web, box: {image: "nginx:2", ports: [{port: 80}]}}]`, nil},
		{"another workload", "[" + db + "]", `[{name: db, box: {image: "mysql:8.0", ports: [{port: 3306}]}}]`,
			[]string{"spec.components[0].box.workload: Invalid value: field is immutable"}},
		{"another workload of a component that has moved", "[" + db + "]", "[{name: web, box: " + web + `}, {name: db, box: {image: "mysql:8.0", ports: [{port: 3306}]}}]`,
			[]string{"spec.components[1].box.workload: Invalid value: field is immutable"}},
		{"another workload of a component that has another name", "[" + db + "]", `[{name: mysql, boxName: shop-db, box: {image: "mysql:8.0", ports: [{port: 3306}]}}]`,
			[]string{"spec.components[0].box.workload: Invalid value: field is immutable"}},
		{"another workload of another box", "[" + db + "]", `[{name: db, boxName: other, box: {image: "mysql:8.0", ports: [{port: 3306}]}}]`, nil},
		{"a box that goes outside", "[" + db + "]", "[{name: db, external: {host: db.example.com, port: 3306}}]", nil},
		{"a box that comes from outside", "[{name: db, external: {host: db.example.com, port: 3306}}]", "[" + db + "]", nil},
		{"both, after a merge that takes nothing away", "[" + db + "]", strings.TrimSuffix("["+db, "}") + ", external: {host: db.example.com, port: 3306}}]",
			[]string{"spec.components[0].external: Forbidden: only one may be given, and box is"}},
		{"what was wrong already", `[{name: web, box: {image: "a:1", ports: [{port: 0, targetPort: 1}]}}]`, `[{name: web, box: {image: "a:2", ports: [{port: 0, targetPort: 1}]}}]`, nil},
		{"what was wrong already, in another place", `[{name: web, box: {image: "a:1", ports: [{port: 0, targetPort: 1}]}}]`, `[{name: a, box: {image: "a:1"}}, {name: web, box: {image: "a:2", ports: [{port: 0, targetPort: 1}]}}]`, nil},
		{"what was wrong already, and something else", `[{name: web, box: {image: "a:1", ports: [{port: 0, targetPort: 1}]}}]`, `[{name: web, box: {image: "a:1", replicas: -1, ports: [{port: 0, targetPort: 1}]}}]`,
			[]string{"spec.components[0].box.replicas: Invalid value: must be greater than or equal to 0"}},
		{"a dependency that is gone", "[" + db + ", {name: web, dependsOn: [db], box: " + web + "}]", "[{name: web, dependsOn: [db], box: " + web + "}]",
			[]string{"spec.components[0].dependsOn[0]: Not found: "}},
		{"a dependency that has lost its ports", "[" + db + ", {name: web, dependsOn: [db], box: " + web + "}]", `[{name: db, box: {workload: StatefulSet, image: "mysql:8.0"}}, {name: web, dependsOn: [db], box: ` + web + "}]",
			[]string{"spec.components[1].dependsOn[0]: Invalid value: " + validation.MustHavePortsToConnect}},
		{"a dependency that becomes a Job", "[" + db + "]", `[{name: db, box: {workload: StatefulSet, image: "mysql:8.0", ports: [{port: 3306}]}}, {name: setup, box: {workload: Job, image: "a:1"}}, {name: web, dependsOn: [db, setup], box: ` + web + "}]", nil},
		{"a cycle", "[{name: a, box: " + web + "}, {name: b, dependsOn: [a], box: " + web + "}]", "[{name: a, dependsOn: [b], box: " + web + "}, {name: b, dependsOn: [a], box: " + web + "}]",
			[]string{"spec.components[1].dependsOn[0]: Invalid value: " + validation.MustNotCycle([]string{"a", "b", "a"})}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack, old := newStack(t, row.new), newStack(t, row.old)
			errs := newStrategy().ValidateUpdate(t.Context(), stack, old)
			if diff := cmp.Diff(row.want, briefly(errs)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Of the two boxes, which have the same size, one depends on the database. Its variables are part of it.
func TestTheSizeOfABoxCountsWhatConnectsIt(t *testing.T) {
	stack := newStack(t, `
- {name: alone, box: {image: "a:1"}}
- {name: connected, dependsOn: [db], box: {image: "a:1"}}
- {name: db, box: {image: "db:1", ports: [{port: 3306}]}}
`)
	// The rest is what a box has beside its arguments, about.
	const maxBytes, rest, variables = 96 << 10, 130, 60
	for _, row := range []struct {
		name string
		size int
		want []string
	}{
		{"with room for the variables", maxBytes - rest - 2*variables, nil},
		{"without", maxBytes - rest, []string{"spec.components[1].box"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i := range 2 {
				stack.Spec.Components[i].Box.Args = []string{strings.Repeat("x", row.size)}
			}
			var got []string
			for _, err := range newStrategy().Validate(t.Context(), stack) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("refused fields, -want +got:\n%s", diff)
			}
		})
	}
}
