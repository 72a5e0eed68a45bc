// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/scheme"
)

func TestInitWritesWhatFlagsSay(t *testing.T) {
	for _, row := range []struct {
		name      string
		arguments []string
		want      string
		wantErr   string
	}{
		{
			name:      "the least",
			arguments: []string{"web", "--image=nginx:1.7.9"},
			want:      "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata:\n  name: web\nspec:\n  image: nginx:1.7.9\n",
		},
		{
			name: "everything",
			arguments: []string{
				"web", "--image=nginx:1.7.9", "--namespace=shop", "--replicas=2", "--port=http:80:8080", "--port=53/udp", "--env=A=b=c", "--env=B=",
				"--storage=data:/var/lib/data:1Gi", "--host=shop.example.com", "--workload=StatefulSet", "--resource-type=small", "--", "serve", "--all",
			},
			want: `apiVersion: model.github.com/v1
kind: ModelBox
metadata:
  name: web
  namespace: shop
spec:
  command:
  - serve
  - --all
  envs:
  - name: A
    value: b=c
  - name: B
  image: nginx:1.7.9
  ingress:
    hosts:
    - shop.example.com
  ports:
  - name: http
    port: 80
    targetPort: 8080
  - port: 53
    protocol: UDP
  replicas: 2
  resourceType: small
  storage:
  - mountPath: /var/lib/data
    name: data
    size: 1Gi
  workload: StatefulSet
`,
		},
		{
			name:      "a schedule",
			arguments: []string{"report", "--image=report:1.4", "--schedule=30 2 * * *"},
			want:      "apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata:\n  name: report\nspec:\n  cronJob:\n    schedule: 30 2 * * *\n  image: report:1.4\n  workload: CronJob\n",
		},
		{name: "a schedule of a Deployment", arguments: []string{"web", "--image=a", "--workload=Deployment", "--schedule=@daily"}, wantErr: "spec.cronJob"},
		{name: "no terminal", wantErr: "NAME and --image are required"},
		{name: "two names", arguments: []string{"web", "shop"}, wantErr: "specify a command after --"},
		{name: "a port without a number", arguments: []string{"web", "--image=a", "--port=http"}, wantErr: "--port=http: must be [NAME:]PORT"},
		{name: "a port with too much", arguments: []string{"web", "--image=a", "--port=a:80:81:82"}, wantErr: "must be [NAME:]PORT"},
		{name: "a variable without a value", arguments: []string{"web", "--image=a", "--env=A"}, wantErr: "--env=A: must be NAME=VALUE"},
		{name: "a volume without a size", arguments: []string{"web", "--image=a", "--storage=data:/data"}, wantErr: "must be NAME:MOUNTPATH:SIZE"},
		{name: "a size that is none", arguments: []string{"web", "--image=a", "--storage=data:/data:big"}, wantErr: `size "big"`},
		{name: "what the server refuses", arguments: []string{"web", "--image=a", "--port=0"}, wantErr: "spec.ports[0].port"},
		{name: "a workload that there is not", arguments: []string{"web", "--image=a", "--workload=Pod"}, wantErr: "spec.workload"},
	} {
		t.Run(row.name, func(t *testing.T) {
			streams, _, out, _ := genericiooptions.NewTestIOStreams()
			flags := genericclioptions.NewConfigFlags(false)
			cmd := NewCommand(cmdutil.NewFactory(flags), streams)
			flags.AddFlags(cmd.PersistentFlags())
			cmd.SetArgs(row.arguments)
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			err := cmd.ExecuteContext(t.Context())
			if row.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), row.wantErr) {
					t.Errorf("got %v, want %s", err, row.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestInitAsksUntilAnAnswerCanBeUsed(t *testing.T) {
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString("\nweb\nnginx:1.7.9\nmany\n2\nhttp\n80 53/udp\n\n")
	o := &Options{IOStreams: streams, Replicas: 1, PrintFlags: genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme).WithDefaultOutput("yaml"), asks: true}
	if err := o.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a name is required, such as web", "must be a number", "http: must be [NAME:]PORT"} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, errOut)
		}
	}
	for _, want := range []string{"name: web", "image: nginx:1.7.9", "replicas: 2", "port: 80", "protocol: UDP"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

func TestInitAsksOnlyForWhatIsMissing(t *testing.T) {
	streams, in, _, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString("web\n")
	o := &Options{
		IOStreams: streams, Image: "nginx:1.7.9", Replicas: 2, Ports: []string{"80"}, Hosts: []string{"shop.example.com"}, asks: true,
		PrintFlags: genericclioptions.NewPrintFlags("").WithTypeSetter(scheme.Scheme).WithDefaultOutput("yaml"),
	}
	if err := o.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Name? ", errOut.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestInitEndsWithTheAnswers(t *testing.T) {
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString("web\n")
	o := &Options{IOStreams: streams, Replicas: 1, PrintFlags: genericclioptions.NewPrintFlags("").WithDefaultOutput("yaml"), asks: true}
	if err := o.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "reading the answer") || out.Len() > 0 {
		t.Errorf("got %v, %s", err, out)
	}
}
