#!/usr/bin/python3
"""A ResNet-18 by SimCLR or EMC2, in PyTorch: stands in the place of foil-train.
usage: trainer.py -r RUN [--resume] [--objective emc2] [--keep-features N] ..."""
import io, torch, torchvision, foil
from torch import nn

o = foil.options(run=str, objective=["simclr", "emc2"], keep_features=0, autocast=False,
                 device="cuda" if torch.cuda.is_available() else "cpu", resume=False,
                 tau=.5, lr=.06, warmup=0., checkpoint_every=0, threads=1, seed=0)
torch.manual_seed(o.seed), torch.set_num_threads(o.threads or 1)
net = torchvision.models.resnet18()
net.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
net.maxpool = net.fc = nn.Identity()
head = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 128))
model = nn.Sequential(net, head).to(o.device)
optim = torch.optim.SGD(model.parameters(), o.lr, momentum=0.9, weight_decay=1e-4)
scale = torchvision.transforms.Normalize(*map(foil.ENCODER.get, ("mean", "deviation")))
def save():
    torch.save([model.state_dict(), optim.state_dict()], f := io.BytesIO())
    return dict(model=net.state_dict(), head=head.state_dict(prefix="head."),
                encoder={"arch": "resnet18", "head": "512-128"}, size=x.shape[2],
                files={"torch.pt": f.getvalue()})
trainer = foil.Trainer(o.run, keep_features=o.keep_features, resume=o.resume, save=save,
                       save_every=o.checkpoint_every, negatives=o.objective == "emc2")
if trainer.checkpoint:
    old = torch.load(trainer.checkpoint.folder + "/torch.pt", o.device)
    model.load_state_dict(old[0]), optim.load_state_dict(old[1])
for batch in trainer:
    x = torch.from_numpy(batch.images()).to(o.device).permute(0, 3, 1, 2)
    torch.set_grad_enabled(not batch.encode_only)
    with torch.autocast(x.device.type, torch.bfloat16, enabled=o.autocast):
        z = nn.functional.normalize(model(scale(x / 255)).float())
    n, s, warm = 2 * len(batch), z @ z.T / o.tau, o.warmup * batch.steps or 1
    away = s[:n].fill_diagonal_(-torch.inf).logsumexp(1) if o.objective == "simclr" \
        else (torch.from_numpy(batch.weights(z, 1 / o.tau)).to(s) * s[:n]).sum(1)
    loss = (away - s[:n, :n].roll(n // 2, 1).diagonal()).mean()
    if not batch.encode_only:
        optim.param_groups[0]["lr"] = o.lr * min(1, (trainer.total + 1) / warm)
        optim.zero_grad(), loss.backward(), optim.step()
    batch.done(z=z, loss=loss)
