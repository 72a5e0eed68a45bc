// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestDoctorFindsAWorkingInstallation(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	table := run(n, "doctor")
	for _, want := range []string{
		`OK +Kubernetes +version v1\.`,
		`OK +APIService +available through Service modelbox-system/modelbox-apiserver`,
		`OK +Trusted CA +latest of [0-9]+ CAs? expires in`,
		`OK +Server \S+ +certificate expires in`,
		`OK +Server \S+ +ready, version v`,
		`OK +Server \S+ +etcd uses \S+ of \S+`,
		`OK +Controllers +leader \S+ for`,
		`OK +Objects +[1-9][0-9]* box(es)?, .*, [0-9]+ PodDebuggers?`,
	} {
		if !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("%s is missing:\n%s", want, table)
		}
	}
	list := struct {
		Items []struct{ Status, Check, Message string }
	}{}
	if err := json.Unmarshal([]byte(run(n, "doctor", "--output=json")), &list); err != nil || len(list.Items) != len(strings.Split(strings.TrimSpace(table), "\n"))-1 {
		t.Errorf("%v: %+v", err, list)
	}
}

func TestDoctorTellsWhatMayNotBeSeen(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	user := newUser(n, "get pods")
	result := modelbox(n, "doctor", "--as="+user)
	if result.Err != nil || !regexp.MustCompile(`Unknown +APIService +.*forbidden`).MatchString(result.Stdout) || strings.Contains(result.Stdout, "Failed") {
		t.Errorf("%v\n%s%s", result.Err, result.Stdout, result.Stderr)
	}
}
