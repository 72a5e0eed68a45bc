// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func TestIsolationWarnings(t *testing.T) {
	const (
		db     = `{name: db, box: {image: "mysql:8.0", ports: [{port: 3306}]}}`
		api    = `{name: api, dependsOn: [db], box: {image: "api:1", ports: [{port: 80}]}}`
		web    = `{name: web, dependsOn: [api], box: {image: "web:1", ports: [{port: 80}], ingress: {hosts: [shop.example.com]}}}`
		worker = `{name: worker, dependsOn: [db, mail], box: {image: "worker:1"}}`
		mail   = `{name: mail, external: {host: mail.example.com, port: 25}}`
	)
	isolated := "spec.isolate: " + warn.ClosesOtherDestinations
	for _, row := range []struct {
		name            string
		old, components string
		// wasIsolated and now are spec.isolate of the old stack and of the new one.
		wasIsolated, now bool
		want             []string
	}{
		{"no isolation", db + ", " + api, db, false, false, nil},
		{"isolation", db + ", " + api + ", " + web + ", " + worker + ", " + mail, db + ", " + api + ", " + web + ", " + worker + ", " + mail, false, true, []string{
			isolated,
			warn.ClosesConnections("db", []string{"web"}, true),
			warn.ClosesConnections("api", []string{"db", "worker"}, true),
			warn.ClosesConnections("web", []string{"db", "api", "worker"}, false),
		}},
		{"isolation that stays", db + ", " + api, db + ", " + api, true, true, nil},
		{"the end of the isolation", db + ", " + api, db + ", " + api, true, false, nil},
		{"a dependency less", db + ", " + api, db + `, {name: api, box: {image: "api:2", ports: [{port: 80}]}}`, true, true,
			[]string{warn.ClosesConnections("db", []string{"api"}, false)}},
		{"a dependency more", db + `, {name: api, box: {image: "api:2", ports: [{port: 80}]}}`, db + ", " + api, true, true, nil},
		{"an Ingress less", db + ", " + api + ", " + web, db + ", " + api + `, {name: web, dependsOn: [api], box: {image: "web:1", ports: [{port: 80}]}}`, true, true,
			[]string{warn.ClosesConnections("web", nil, true)}},
		{"a new component of an isolated stack", db, db + ", " + api, true, true, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, stack := newStack(t, "["+row.old+"]"), newStack(t, "["+row.components+"]")
			old.Spec.Isolate, stack.Spec.Isolate = ptr.To(row.wasIsolated), ptr.To(row.now)
			if diff := cmp.Diff(row.want, IsolationWarnings(stack, old)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
