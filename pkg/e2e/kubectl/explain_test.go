// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestExplainDescribesFields(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	// The cluster fetches the schema some time after the server has started.
	n.Eventually("kubectl can explain boxes", func() error {
		run := framework.RunKubectl(n.Kubectl.Command("explain", "mb"), "")
		if run.Err != nil {
			return errors.New(run.Stderr)
		}
		return nil
	})
	for _, test := range []struct {
		arguments string
		want      []string
	}{
		{"explain mb", []string{"KIND: ModelBox", "VERSION: v1", "GROUP: model.github.com", "spec <ModelBoxSpec>", "status <ModelBoxStatus>"}},
		{"explain modelbox.spec", []string{"image <string> -required-", "replicas <integer>", "ports <[]ServicePort>"}},
		{"explain modelbox.spec.rollingUpdate", []string{"rollingUpdate <RollingUpdate>", "rolling update", `Defaults to "25%"`, "Example: {maxSurge: 1, maxUnavailable: 0}"}},
		{"explain modelbox.spec.strategy", []string{"ENUM: Recreate RollingUpdate"}},
		{"explain modelbox.spec.service", []string{"externalTrafficPolicy <string>", "sessionAffinityConfig <SessionAffinityConfig>"}},
		{"explain modelbox.spec.serviceType", []string{"ENUM: ClusterIP Headless LoadBalancer NodePort", `"Headless"` + "` gives the box a DNS name"}},
		{"explain modelbox.spec --recursive", []string{
			"containers <[]Container>", "initContainers <[]Container>", "restartPolicy <string>",
			"readinessProbe <Probe>", "tcpSocket <TCPSocketAction>", "targetPort <IntOrString>", "emptyDir <EmptyDirVolumeSource>",
		}},
		{"explain mst", []string{"KIND: ModelStack", "VERSION: v1", "GROUP: model.github.com", "spec <ModelStackSpec>", "status <ModelStackStatus>"}},
		{"explain modelstack.spec.components", []string{"name <string> -required-", "dependsOn <[]string>", "box <ModelBoxSpec>", "external <ModelStackExternal>"}},
		{"explain modelstack.spec.components.dependsOn", []string{"_HOST", "_PORT", "_URL"}},
		{"explain modelbox.status.conditions.reason", []string{"reason <string>", "programmatic identifier"}},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			text := strings.Join(strings.Fields(n.In(t).Kubectl.Run(strings.Fields(test.arguments)...)), " ")
			for _, words := range test.want {
				if !strings.Contains(text, words) {
					t.Errorf("it does not say %q:\n%s", words, text)
				}
			}
		})
	}
}
