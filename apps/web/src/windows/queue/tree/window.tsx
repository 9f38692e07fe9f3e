import { QueueWindow } from '../QueueWindow.tsx';

export default QueueWindow;
